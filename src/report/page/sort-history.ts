import { findMax } from '../../model/append.ts'
import { groupApplies } from '../../model/group-applies.ts'

/**
 * Sorts applies for a page: the latest first, and the waves of one rollout together, where its last
 * wave is.
 *
 * @param applies first to last
 */
export function sortForPage<T extends { apply: { id: string } }>(
  applies: readonly T[],
): (T & { isWave: boolean })[] {
  const entries = applies.map((each, position) => ({ id: each.apply.id, position, each }))
  const groups = groupApplies(entries).map((group) => ({
    group,
    last: findMax(group.map(({ position }) => position)),
  }))
  return groups
    .toSorted((a, b) => b.last - a.last)
    .flatMap(({ group }) =>
      group.toReversed().map(({ each }) => ({ ...each, isWave: group.length > 1 })),
    )
}
