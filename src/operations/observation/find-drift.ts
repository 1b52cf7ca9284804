import type { Comparable, Desired, Secrets, Settings } from '../runtime/parts.ts'
import { forgetHidden } from '../../core/catalog/hidden-fields.ts'
import { detectDrift } from '../../core/diff/detect-drift.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { ignoreDrift, createIgnoreLookup } from '../../core/diff/ignore-drift.ts'
import { replaceKnownSecrets, representSecrets } from '../../core/diff/known-secrets.ts'
import { parseObserved, type ObservedName } from '../../manifest/observed/observed.ts'
import type { Maker } from '../../manifest/secrets/secret-vault.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Drift, Observed } from '../../core/model/drift.ts'
import {
  createItemState,
  pickWritten,
  setItem,
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
} from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import { narrowSnapshot, type Selection } from '../../core/plan/selection.ts'
import {
  findItemsOnHold,
  findItemsWaiting,
  describeEnd,
  describeUnfinished,
} from '../../engine/rollout/conflicts.ts'
import type { RecordedState, RecordedItem } from '../../state/store/store.ts'
import { hashDesired } from '../submission/hash-desired.ts'
import { listSome } from '../../core/model/text/words.ts'

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
 * @param ignore differences that do not count
 * @throws EdgewiseError `not-observed` when `observation` has the wrong shape
 */
export function findDrift(
  workspace: Comparable,
  recorded: RecordedState,
  observation: { data: Json; notes: string[]; maker: Maker; missing?: Domain[] } | null,
  rollouts: Rollout[] = [],
  ignore = workspace.config.drift.ignore,
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
          maker: observation.maker,
        })
  const { missing = [], notes = [] } = observation ?? {}
  const domains = new Set([...recorded.keys(), ...desired.keys(), ...seen.observed.keys()])
  const { hashItem } = hashDesired(workspace)
  const onHold = findItemsOnHold(rollouts, hashItem)
  const waiting = findItemsWaiting(rollouts, hashItem)
  const drift = ignoreDrift(
    detectDrift(recorded, desired, seen.observed, onHold, waiting),
    createIgnoreLookup(ignore, domains.size),
  )
  for (const each of drift.items) {
    const rollout = each.held ? onHold.get(each.domain)?.get(each.item) : undefined
    if (rollout !== undefined) each.hold = describeEnd(rollout)
  }
  return {
    observed: seen.observed,
    unmanaged: seen.unmanaged,
    notes: [...notes, ...seen.notes, ...describeUnfinished(rollouts)],
    drift: {
      ...drift,
      isObserved: observation !== null,
      unanswered: missing.length === 0 ? undefined : missing,
    },
  }
}

/** Narrows drift to a selection. */
export function narrowDrift(found: FoundDrift, selection: Selection): FoundDrift {
  const { items, pending, live, inDoubt, stays = [] } = found.drift
  const names = new Map<Domain, Map<ItemKey, true>>()
  for (const { domain, item } of items) setItem(names, domain, item, true)
  const selected = narrowSnapshot(names, selection)
  const narrow = <T extends { domain: Domain; item: ItemKey }>(all: T[]) =>
    all.filter(({ domain, item }) => selected.get(domain)?.has(item) === true)
  return {
    ...found,
    drift: {
      ...found.drift,
      items: narrow(items),
      pending: narrow(pending),
      live: narrow(live),
      inDoubt: narrow(inDoubt),
      stays: narrow(stays),
    },
  }
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
  { desired, vault }: Desired & Secrets,
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
    const named = Object.keys(templates).length === 0 ? {} : { templates }
    const written = pickWritten(recorded.get(domain)?.get(item)?.writtenFields)
    const all = { ...state, ...named, ...written, ...provenance }
    setItem(base, domain, item, all, recorded.get(domain))
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
    const templates = after === null ? {} : { ...known?.templates, ...vault.listTemplates(after) }
    const { value, unknownFields } = forgetHidden(
      getItemSpec(item),
      after,
      observedItem.notVerifiable,
    )
    record(domain, item, createItemState(value, unknownFields), templates)
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

/**
 * Refuses an observation without any of the compared items: it compares nothing, so no drift would
 * be wrong. Without items to compare, every observation is accepted.
 *
 * @throws EdgewiseError `not-observed`
 */
export function refuseUnobserved(
  { drift, observed }: FoundDrift,
  { redact }: Pick<Settings, 'redact'>,
): void {
  const { items } = drift
  const isObserved = items.some(({ domain, item }) => observed.get(domain)?.has(item) === true)
  // That the service has none of the domains is a difference, and was observed.
  if (isObserved || items.length === 0 || drift.unanswered !== undefined) return
  const domains = [...observed.keys()].map(redact)
  throw new EdgewiseError(
    'not-observed',
    'none of the compared items was observed: ' +
      (domains.length === 0 ? 'the observation has no domain' : `it has ${listSome(domains)}`),
    'Pass the configuration of domains that the manifests or state have, with their items.',
  )
}
