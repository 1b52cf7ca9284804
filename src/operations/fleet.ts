import { addEarlierReads, type EarlierRead } from './observation/earlier-reads.ts'
import type { HistoryEntry } from '../core/model/applied.ts'
import type { Drift } from '../core/model/drift.ts'
import type { Domain } from '../core/model/item.ts'
import { groupBy } from '../core/model/lists.ts'
import type { FleetRow } from '../core/model/page/fleet.ts'
import { buildFleetRow } from '../outlets/report/domain/fleet-row.ts'
import type { DomainApply } from '../outlets/report/domain/format-domain-page.ts'
import { buildSheet, type DomainSheet, type FieldSource } from '../outlets/report/domain/sheet.ts'
import { observe, type DriftRequest } from './drift.ts'
import { indexRefusals, listPastApplies, type PastFleet } from './history/past-applies.ts'
import { findDrift } from './observation/find-drift.ts'
import { createOwnerLookup } from './people/owners.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { loadState } from './runtime/open-state.ts'
import type { StateOutside } from './runtime/parts.ts'
import { describeDomain, noteErrors } from './show.ts'
import { describeOwners } from './submission/refuse-owned-elsewhere.ts'

/** What is known of one domain of a fleet. */
export interface FleetDomain {
  sheet: DomainSheet
  row: FleetRow
  /** The applies that wrote it, first to last, as far as they are stored. */
  applies: DomainApply[]
}

/** What is known of all domains. */
export interface LoadedFleet {
  /** Names of all domains that manifests or state have, sorted. */
  domains: Domain[]
  notes: string[]
  /** Builds what is known of each domain, one after another: together they take much memory. */
  list(): Generator<FleetDomain>
}

/** How the fleet is compared with the service. */
export interface FleetRequest extends Pick<DriftRequest, 'observe' | 'observesAll'> {
  /** What an earlier drift check has found. */
  earlier?: ReadonlyMap<Domain, EarlierRead>
}

/**
 * Loads what is known of all domains: the configuration, the state, drift and the history, each
 * once. Records nothing.
 *
 * @throws EdgewiseError as `drift` for an observation
 */
export async function loadFleet(
  workspace: LoadedWorkspace,
  request: FleetRequest,
  outside: StateOutside,
): Promise<LoadedFleet> {
  const { store, recorded } = await loadState(workspace, outside, true)
  const selection = { target: [], items: [] }
  const observed = await observe(request, { workspace, recorded, selection }, outside)
  const domains = [...new Set([...workspace.desired.keys(), ...recorded.keys()])].toSorted()
  outside.onPhase?.({ name: 'comparing', total: domains.length })
  const found = findDrift(workspace, recorded, observed, await store.listRollouts())
  const traffic = await store.loadTraffic()
  const past = await listPastApplies(store, recorded)
  const applies = new Map<string, HistoryEntry>(past.applies.map(({ apply }) => [apply.id, apply]))
  const findRefusal = indexRefusals(applies.values())
  const { earlier } = request
  const drift =
    earlier === undefined
      ? found.drift
      : addEarlierReads(found.drift, (domain) => earlier.get(domain))
  const [appliesByDomain, selectDrift] = [indexApplies(past), indexDrift(drift)]
  const owners = await store.findOwners(workspace.desired.keys())
  return {
    domains,
    notes: [
      ...noteErrors(workspace, 'items with an error look as if no manifest had them'),
      ...found.notes,
      ...describeOwners(owners),
    ],
    *list() {
      const sources = new Map<string, FieldSource[]>()
      const findOwners = createOwnerLookup(workspace)
      for (const domain of domains) {
        const sheet = buildSheet({
          ...describeDomain(workspace, domain, findOwners, sources),
          desired: workspace.desired.get(domain) ?? new Map(),
          recorded: recorded.get(domain) ?? new Map(),
          recordedOnly: null,
          drift: selectDrift(domain),
          findApply: (id) => applies.get(id),
          findRefusal,
        })
        const row = buildFleetRow(sheet, traffic.domains.get(domain)?.requests)
        yield { sheet, row, applies: appliesByDomain.get(domain) ?? [] }
      }
    },
  }
}

/** Lists the applies of each domain, without the values. */
function indexApplies({ applies }: PastFleet): Map<Domain, DomainApply[]> {
  const index = new Map<Domain, DomainApply[]>()
  for (const { apply, changes } of applies)
    for (const [domain, items] of changes ?? []) {
      const outcomes = Array.from(
        items,
        ([item, { before: _before, after: _after, ...end }]) => [item, end] as const,
      )
      const own = index.get(domain) ?? []
      own.push({ ...apply, items: new Map(outcomes) })
      index.set(domain, own)
    }
  return index
}

/** Creates a selection of the drift of a domain. */
function indexDrift({ items, pending, live }: Drift) {
  const getDomain = ({ domain }: { domain: Domain }) => domain
  const [ownItems, ownPending, ownLive] = [
    groupBy(items, getDomain),
    groupBy(pending, getDomain),
    groupBy(live, getDomain),
  ]
  return (domain: Domain) => ({
    items: ownItems.get(domain) ?? [],
    pending: ownPending.get(domain) ?? [],
    live: ownLive.get(domain) ?? [],
  })
}
