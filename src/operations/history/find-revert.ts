import type { PastChange, PastChanges } from '../../core/model/applied.ts'
import { nameChange, type Change } from '../../core/model/change.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { isSameJson } from '../../core/model/json.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import { formatCount, pluralize } from '../../core/model/text/words.ts'
import type { HashItem } from '../../engine/rollout/conflicts.ts'

/** How much of a plan goes back to values that were confirmed and healthy. */
export interface Revert {
  /** Whether all changes do. */
  isWhole: boolean
  /** Sentence for the plan. */
  note: string
}

/** What earlier applies intended, first to last; null where that is not stored. */
export interface PastApplies {
  applies: { changes: PastChanges | null }[]
}

/** What a revert is found by. */
export interface RevertSources {
  /** Loads what earlier applies intended. */
  loadPast(): Promise<PastApplies>
  rollouts: Rollout[]
  hashItem: HashItem
}

/**
 * Finds whether changes go back to values that the service had confirmed, that no health check
 * found worse, and that nobody has gone back from; null if none does.
 */
export async function findRevert(
  changes: Change[],
  { loadPast, rollouts, hashItem }: RevertSources,
): Promise<Revert | null> {
  const past = indexPast(await loadPast(), changes)
  const unhealthy = findUnhealthy(rollouts)
  const restores = ({ domain, item, after }: Change) =>
    !unhealthy(domain, item, hashItem(domain, item)) &&
    wasKept(past.get(nameChange({ domain, item })) ?? [], after)
  const restored = changes.filter(restores).length
  if (restored === 0) return null
  const isWhole = restored === changes.length
  const what = isWhole
    ? 'all changes go'
    : `${formatCount(restored)} of ${pluralize(changes.length, 'change')} ` +
      (restored === 1 ? 'goes' : 'go')
  const how = isWhole ? 'at once, without waves and health checks' : 'in waves, as any other'
  return {
    isWhole,
    note:
      `${what} back to values that were confirmed and healthy: the plan is applied ${how} ` +
      '(rollout.revert: fast)',
  }
}

/** A value, null for none; undefined where it is not known. */
type KnownValue = Value | null | undefined

/** Lists the values of each changed item, first to last. */
function indexPast({ applies }: PastApplies, changes: Change[]): Map<string, KnownValue[]> {
  const wanted = new Set(changes.map(nameChange))
  const values = new Map<string, KnownValue[]>()
  for (const { changes: past } of applies)
    for (const [domain, items] of past ?? [])
      for (const [item, change] of items) {
        const name = nameChange({ domain, item })
        if (!wanted.has(name)) continue
        const own = values.get(name) ?? [findBefore(change)]
        own.push(findAfter(change))
        values.set(name, own)
      }
  return values
}

function findBefore({ before }: PastChange): KnownValue {
  if (before === null || before.status === 'unset') return null
  const { status, candidates, unknown } = before
  const [value] = candidates
  return status === 'in-doubt' || unknown === true || candidates.length > 1 ? undefined : value
}

function findAfter(change: PastChange): KnownValue {
  const { after, outcome } = change
  if (outcome === 'unchanged' || outcome === 'not-recorded') return findBefore(change)
  if (outcome === 'released') return null
  if (outcome !== 'confirmed' || (after?.length ?? 0) > 1) return undefined
  return after?.[0] ?? null
}

/**
 * Tests whether an item had a value, and was never brought back from it to an earlier one. The last
 * value is the current one, which a change replaces.
 */
function wasKept(values: KnownValue[], goal: Value | null): boolean {
  const isGoal = (value: KnownValue) => value !== undefined && isSameJson(value, goal)
  const at = values.flatMap((value, i) => (isGoal(value) ? [i] : []))
  return (
    at.length > 0 &&
    at.every((i) => {
      const next = values[i + 1]
      const earlier = values.slice(0, i).some((each) => next === undefined || isEqual(each, next))
      return isGoal(next) || !earlier
    })
  )
}

function isEqual(one: KnownValue, other: KnownValue): boolean {
  return one !== undefined && other !== undefined && isSameJson(one, other)
}

/** Creates a test whether a health check found a value worse, or its rollout was rolled back. */
function findUnhealthy(
  rollouts: Rollout[],
): (domain: Domain, item: ItemKey, value: string) => boolean {
  const marked = rollouts.flatMap(({ onHold, unhealthy = {} }) => [onHold, unhealthy])
  return (domain, item, value) =>
    marked.some((values) => Object.hasOwn(values, domain) && values[domain]?.[item] === value)
}
