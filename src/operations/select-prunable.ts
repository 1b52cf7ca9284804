import type { Applied } from '../model/applied.ts'
import type { Rollout } from '../model/rollout.ts'
import { groupApplies } from '../model/group-applies.ts'

/** What limits the applies to prune. */
export interface PruneLimits {
  /** Only applies that ended before this instant, ms since 1970. */
  beforeMs: number
  rollouts: Rollout[]
  /** Ids of applies that are unfinished, or that a rollback without a name rolls back. */
  needed: ReadonlySet<string>
  /** Maximum number of applies, except for a single rollout with more. */
  maxApplies: number
}

/** Applies that can be pruned, and an old one that keeps itself and all later ones. */
export interface Prunable {
  applies: Applied[]
  /** Id of the apply or of its rollout; null if there is none. */
  blockedBy: string | null
}

/**
 * Selects the first applies of the history, up to one that is needed: an earlier state is
 * reconstructed from all later applies, so none between kept ones can go. The last apply stays.
 *
 * @param history first to last
 */
export function selectPrunable(history: Applied[], limits: PruneLimits): Prunable {
  const groups = groupApplies(history)
  const open = new Set(
    limits.rollouts
      .filter(({ state }) => state === 'open' || state === 'taking-back')
      .flatMap(({ id, applies }) => [id, ...applies]),
  )
  const isOld = (applies: Applied[]) =>
    applies.every(({ startedAt, endedAt }) => Date.parse(endedAt ?? startedAt) < limits.beforeMs)
  const isNeeded = (applies: Applied[]) =>
    applies.some(({ id }) => limits.needed.has(id) || open.has(id))
  let [count, size] = [0, 0]
  for (const applies of groups.slice(0, -1)) {
    const isTooMuch = size > 0 && size + applies.length > limits.maxApplies
    if (!isOld(applies) || isNeeded(applies) || isTooMuch) break
    count++
    size += applies.length
  }
  const blocking = groups[count] ?? []
  const isBlocked = count < groups.length - 1 && isOld(blocking) && isNeeded(blocking)
  // The waves of a rollout may have run after an apply that is kept.
  while (count > 0 && !isBefore(groups.slice(0, count).flat(), groups.slice(count).flat())) count--
  return {
    applies: groups.slice(0, count).flat(),
    blockedBy: isBlocked ? (blocking[0]?.id ?? null) : null,
  }
}

function isBefore(applies: Applied[], later: Applied[]): boolean {
  const start = later.reduce(
    (first, { startedAt }) => (startedAt < first ? startedAt : first),
    later[0]?.startedAt ?? '',
  )
  return applies.every(({ startedAt }) => startedAt < start)
}
