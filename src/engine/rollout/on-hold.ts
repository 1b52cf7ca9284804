import { diffSnapshots } from '../../core/diff/diff-snapshots.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { ItemKey, Snapshot, Domain } from '../../core/model/item.ts'
import type { OnHold } from '../../core/model/plan.ts'
import type { Rollout, ItemHashes } from '../../core/model/rollout.ts'
import { pluralize, listSome } from '../../core/model/text/words.ts'
import { findItemsOnHold, type HashItem, type ItemsOnHold } from './conflicts.ts'

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
        '"edgewise apply --retry-held" applies them again'
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
