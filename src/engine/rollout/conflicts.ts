import { setItem, type Domain, type ItemKey, type Snapshot } from '../../core/model/item.ts'
import { getOwn } from '../../core/model/json.ts'
import {
  findCurrentWave,
  hasPassed,
  isSent,
  type Rollout,
  type ItemHashes,
} from '../../core/model/rollout.ts'
import { narrowSnapshot, type Selection } from '../../core/plan/selection.ts'
import { diffSnapshots } from '../../core/diff/diff-snapshots.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { OnHold } from '../../core/model/plan.ts'
import { pluralize, listSome } from '../../core/model/text/words.ts'

/** Open rollouts that affect a plan. */
export interface RolloutConflicts {
  /** Rollout that the plan resumes: the same desired state, and no other changes. */
  continued: Rollout | null
  /** Open rollouts that the plan would interfere with. */
  conflicting: Rollout[]
  /** Rollouts whose waves have all passed, and whose domains the plan changes. */
  passed: Rollout[]
}

/** Selection of a plan. */
export interface PlanSelection extends Selection {
  /** The plan has only a part of the changes of its selection, so it resumes no rollout. */
  isPart?: boolean | undefined
  /** Id of the rollout that is judged again if all of its waves have passed. */
  looksBack?: string | undefined
}

/**
 * Finds the open rollouts that affect changes of some domains. A plan without changes resumes a
 * rollout that only waits for a verdict. A plan for a part of a rollout never resumes it: the rest
 * would be missing from its waves.
 *
 * @param hashDomain current hash of a domain's desired state
 */
export function findConflicts(
  domains: Iterable<Domain>,
  chosen: PlanSelection,
  rollouts: Rollout[],
  hashDomain: (domain: Domain) => string,
): RolloutConflicts {
  const open = rollouts.filter((each) => each.state === 'open' && !isSuperseded(each, hashDomain))
  const changed = [...domains]
  const isUnchanged = (rollout: Rollout, names: Domain[]) =>
    names.every((domain) => getOwn(rollout.desiredHashes, domain) === hashDomain(domain))
  if (changed.length === 0) {
    const waiting = open.find((rollout) =>
      hasPassed(rollout)
        ? rollout.id === chosen.looksBack
        : selectsAll(chosen, rollout) && isUnchanged(rollout, Object.keys(rollout.desiredHashes)),
    )
    return { continued: waiting ?? null, conflicting: [], passed: [] }
  }
  const touched = open.filter((rollout) =>
    changed.some((domain) => getOwn(rollout.desiredHashes, domain) !== undefined),
  )
  const passed = touched.filter(hasPassed)
  const conflicting = touched.filter((rollout) => !hasPassed(rollout))
  const [only, ...others] = conflicting
  if (
    only !== undefined &&
    others.length === 0 &&
    selectsAll(chosen, only) &&
    isUnchanged(only, changed)
  )
    return { continued: only, conflicting: [], passed }
  return { continued: null, conflicting, passed }
}

/** Returns whether an incomplete rollout gives way: other values of its domains are desired now. */
export function isSuperseded(rollout: Rollout, hashDomain: (domain: Domain) => string): boolean {
  const { state, paused, waves, desiredHashes } = rollout
  const isOther = ([domain, hash]: [Domain, string]) => hashDomain(domain) !== hash
  return (
    state === 'open' &&
    paused === undefined &&
    waves.some(({ passed, applied }) => !passed && applied?.incomplete === true) &&
    Object.entries(desiredHashes).some(isOther)
  )
}

function selectsAll(chosen: PlanSelection, { desiredHashes, items }: Rollout): boolean {
  if (chosen.isPart === true) return false
  const wanted = new Set(chosen.items)
  if (wanted.size > 0 && (items.length === 0 || items.some((item) => !wanted.has(item))))
    return false
  const all = new Map(
    Object.keys(desiredHashes).map((domain) => [domain, new Map<ItemKey, null>()]),
  )
  return narrowSnapshot(all, { target: chosen.target, items: [] }).size === all.size
}

/** Items whose desired value is on hold, each with the rollout that ended last of those. */
export type ItemsOnHold = ReadonlyMap<Domain, ReadonlyMap<ItemKey, Rollout>>

/**
 * Finds the items on hold: a rollout that gave them their desired value was stopped or rolled back,
 * and nobody has repeated it since. Another value of an item is not on hold.
 */
export function findItemsOnHold(rollouts: Rollout[], hashItem: HashItem): ItemsOnHold {
  const found = new Map<Domain, Map<ItemKey, Rollout>>()
  const byEnd = rollouts.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? -1 : 1))
  for (const rollout of byEnd)
    for (const [domain, values] of Object.entries(rollout.onHold))
      for (const [item, value] of Object.entries(values))
        if (hashItem(domain, item) === value) setItem(found, domain, item, rollout)
  return found
}

/** Finds the items whose desired value an open rollout sends with a wave that is not sent yet. */
export function findItemsWaiting(rollouts: Rollout[], hashItem: HashItem) {
  const found = new Map<Domain, Map<ItemKey, Rollout>>()
  for (const rollout of rollouts.filter(({ state }) => state === 'open')) {
    const sent = new Set(rollout.waves.filter(isSent).flatMap(({ domains }) => domains))
    for (const [domain, values] of Object.entries(rollout.values))
      for (const [item, value] of Object.entries(values))
        if (!sent.has(domain) && hashItem(domain, item) === value)
          setItem(found, domain, item, rollout)
  }
  return found
}

/** Hashes the desired value of an item. */
export type HashItem = (domain: Domain, item: ItemKey) => string

/**
 * Maps each domain of a rollout to the number of the wave that sends it from now on, from 1.
 * Domains of passed waves join the current wave.
 */
export function mapDomainsToWaves(rollout: Rollout): Map<Domain, number> {
  const first = (findCurrentWave(rollout) ?? 0) + 1
  const waves = rollout.waves.flatMap(({ domains }, i) =>
    domains.map((domain): [Domain, number] => [domain, Math.max(i + 1, first)]),
  )
  return new Map([...waves, ...rollout.released.map((domain): [Domain, number] => [domain, first])])
}

/** Counts and describes the changes on hold, by rollout. */
export function describeOnHold(
  recorded: Snapshot,
  desired: Snapshot,
  onHold: ItemsOnHold,
  itemKeys: Record<ItemKey, string>,
): { changes: number; domains: OnHold[]; notes: string[] } {
  const { changes } = diffSnapshots(recorded, desired, itemKeys)
  const groups = [...groupBy(changes, ({ domain, item }) => onHold.get(domain)?.get(item))].flatMap(
    ([rollout, own]) => {
      if (rollout === undefined) return []
      const domains = [...new Set(own.map(({ domain }) => domain))]
      const count = pluralize(own.length, 'change')
      const why =
        `on hold ${describeEnd(rollout)}. Revert or change the manifests, or ` +
        '"edgewise apply --retry-held" sends the same values again'
      const { id, endedAt: since, reason } = rollout
      const about = { rollout: id, since, reason: reason ?? '' }
      const items = own.map(({ domain, item }) => ({ domain, item }))
      return [{ domains, count, why, changes: items, ...about }]
    },
  )
  return {
    changes: changes.length,
    domains: groups.map(({ count, why, ...about }) => ({ ...about, text: `${count} ${why}` })),
    notes: groups.map(({ domains, count, why }) => `${count} of ${listSome(domains)} ${why}`),
  }
}

/** Describes since when, by what and why the values of a rollout are on hold. */
export function describeEnd({ id, endedAt, state, reason, waves }: Rollout): string {
  const since = endedAt === null ? '' : `since ${endedAt.slice(0, 16).replace('T', ' ')} UTC `
  const what = waves.length === 0 ? 'rollback' : 'rollout'
  const how = state === 'stopped' ? 'stopped' : 'rolled back'
  return `${since}by ${what} ${id}, ${how}: ${reason ?? ''}`
}

/** Describes values that a health check found worse, that stayed, and that are still desired. */
export function describeWorse(rollouts: Rollout[], hashItem: HashItem): string[] {
  return rollouts.flatMap((each) => {
    const { size } = findItemsOnHold([{ ...each, onHold: each.unhealthy ?? {} }], hashItem)
    const what = `${pluralize(size, 'domain')} worse ${describeEnd(each)}`
    return size === 0 ? [] : `${what}. "edgewise rollback ${each.id}" rolls back`
  })
}

/**
 * Describes rollouts with an unfinished rollback. Their changes that are still live are in no plan:
 * they match the manifests.
 */
export function describeUnfinished(rollouts: Rollout[]): string[] {
  return findUnfinished(rollouts).map(
    ({ id, reason }) =>
      `the rollback of rollout ${id} is unfinished (${reason ?? ''}): ` +
      `some of its changes are still live. "edgewise rollback ${id}" finishes it`,
  )
}

/** Finds the rollouts whose rollback by a health check is unfinished. */
export function findUnfinished(rollouts: Rollout[]): Rollout[] {
  return rollouts.filter(({ state }) => state === 'rolling-back')
}

/**
 * Drops values on hold; returns the rollouts that change by that, also those with nothing on hold
 * any more.
 */
export function dropHolds(
  rollouts: Rollout[],
  isDropped: (domain: Domain, item: ItemKey, value: string) => boolean,
): Rollout[] {
  return rollouts.flatMap((rollout) => {
    const onHold: ItemHashes = {}
    let isChanged = false
    for (const [domain, values] of Object.entries(rollout.onHold)) {
      const kept = Object.entries(values).filter(([item, value]) => !isDropped(domain, item, value))
      isChanged ||= kept.length < Object.keys(values).length
      if (kept.length > 0) onHold[domain] = Object.fromEntries(kept)
    }
    return isChanged ? [{ ...rollout, onHold }] : []
  })
}
