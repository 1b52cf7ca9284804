import { detectDrift } from '../diff/detect-drift.ts'
import { ignoreDrift } from '../diff/ignore-drift.ts'
import { replaceKnownSecrets, representSecrets } from '../diff/known-secrets.ts'
import { parseObserved, type ObservedName } from '../manifest/observed.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Drift, Observed } from '../model/drift.ts'
import { unrecordedState, type Domain, type ItemState, type ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Rollout } from '../model/rollout.ts'
import { createIgnoreLookup } from '../plan/ignored-drift.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'
import { findItemsOnHold } from '../rollout/conflicts.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import { describeUnfinished } from '../rollout/on-hold.ts'

/** Drift between desired, recorded and observed state. */
export interface FoundDrift {
  drift: Drift
  observed: Observed
  /** Notes about unmanaged observed items and about unfinished rollbacks. */
  notes: string[]
  /** Observed items that are not managed here. */
  unmanaged: ObservedName[]
}

/**
 * Detects drift between manifests, recorded state and, if it was observed, the live service. Writes
 * nothing, neither to the service nor to state.
 *
 * @param observation null if nothing was observed
 * @param rollouts stored rollouts
 * @throws EdgewiseError `not-observed` when `observation` has the wrong shape
 */
export function findDrift(
  workspace: Workspace & { vault: SecretVault },
  recorded: RecordedState,
  observation: { data: Json; notes: string[] } | null,
  rollouts: Rollout[] = [],
): FoundDrift {
  const { vault, config } = workspace
  const desired = representSecrets(workspace.desired, recorded, (secret, known) =>
    vault.represent(secret, known),
  )
  const assumed = replaceKnownSecrets(desired, recorded)
  const seen =
    observation === null
      ? { observed: new Map(), notes: [], unmanaged: [] }
      : parseObserved(observation.data, {
          recorded,
          desired: assumed,
          itemKeys: config.service.itemKeys,
          vault,
        })
  const domains = new Set([...recorded.keys(), ...desired.keys(), ...seen.observed.keys()])
  const onHold = findItemsOnHold(rollouts, hashDesired(workspace).hashItem)
  return {
    observed: seen.observed,
    unmanaged: seen.unmanaged,
    notes: [...(observation?.notes ?? []), ...seen.notes, ...describeUnfinished(rollouts)],
    drift: ignoreDrift(
      detectDrift(recorded, desired, seen.observed, onHold),
      createIgnoreLookup(config.drift.ignore, domains.size),
    ),
  }
}

/** Narrows drift to a selection. */
export function narrowDrift(found: FoundDrift, selection: Selection): FoundDrift {
  const { items, pending, live, inDoubt } = found.drift
  const names = new Map<Domain, Map<ItemKey, true>>()
  for (const { domain, item } of items)
    names.set(domain, (names.get(domain) ?? new Map<ItemKey, true>()).set(item, true))
  const selected = narrowSnapshot(names, selection)
  const narrow = <T extends { domain: Domain; item: ItemKey }>(all: T[]) =>
    all.filter(({ domain, item }) => selected.get(domain)?.has(item) === true)
  return {
    ...found,
    drift: {
      items: narrow(items),
      pending: narrow(pending),
      live: narrow(live),
      inDoubt: narrow(inDoubt),
    },
  }
}

/** @throws EdgewiseError `invalid` when a manifest has an error */
export function refuseInvalid({ diagnostics }: Pick<Workspace, 'diagnostics'>): void {
  if (diagnostics.every(({ severity }) => severity !== 'error')) return
  throw new EdgewiseError(
    'invalid',
    'the manifests have errors',
    'Run "edgewise validate".',
    diagnostics,
  )
}

/**
 * Builds the base state of a repair: for each domain whose observed configuration differs from its
 * recorded state, that state with the observed values. An uncertain value becomes in-doubt, so that
 * the repair writes the whole item. An unreadable item is included only if it is still desired.
 *
 * @param observedAt time of the observation, ISO 8601
 */
export function buildRepairBase(
  { drift: found, observed }: FoundDrift,
  recorded: RecordedState,
  { desired, vault }: Pick<Workspace, 'desired'> & { vault: SecretVault },
  observedAt: string,
): Map<Domain, Map<ItemKey, RecordedItem>> {
  const base = new Map<Domain, Map<ItemKey, RecordedItem>>()
  const provenance = { at: observedAt, apply: `observed-${observedAt}`, origin: 'import' as const }
  const record = (
    domain: Domain,
    item: ItemKey,
    state: ItemState,
    templates: Record<string, string>,
  ) => {
    const items = base.get(domain) ?? new Map(recorded.get(domain))
    const named = Object.keys(templates).length === 0 ? {} : { templates }
    items.set(item, { ...state, ...named, ...provenance })
    base.set(domain, items)
  }
  for (const { domain, item, after } of found.live) {
    const observedItem = observed.get(domain)?.get(item)
    if (observedItem === undefined) continue
    const known = recorded.get(domain)?.get(item)
    if (known === undefined && observedItem.notVerifiable.length > 0) {
      // A value hidden from the observation was never recorded either.
      record(domain, item, unrecordedState, {})
      continue
    }
    const { status } = observedItem.state
    const templates = after === null ? {} : { ...known?.templates, ...vault.listTemplates(after) }
    record(domain, item, { status, candidates: after === null ? [] : [after] }, templates)
  }
  for (const { domain, item, unreadable } of found.items) {
    const known = recorded.get(domain)?.get(item)
    if (unreadable === undefined || known?.status === 'in-doubt') continue
    if (desired.get(domain)?.has(item) !== true) continue
    const { candidates = [], templates = {} } = known ?? {}
    record(domain, item, { status: 'in-doubt', candidates, unknown: true }, templates)
  }
  return base
}
