import { listCauses, type Delta } from '../../../core/effects/compare.ts'
import type { EffectGroup } from '../../../core/effects/group.ts'
import { groupBy, addUp } from '../../../core/model/lists.ts'
import { listHeadlines } from './describe-effects.ts'

/** Most examples of a group. */
const maxExamples = 3

/**
 * Joins the groups of which the same is said: requests that are denied now, though each was
 * answered in its own way before. Of the other answers those remain that all of them have, and of
 * the items those on which what is said rests.
 */
export function mergeAlike(groups: readonly EffectGroup[]): EffectGroup[] {
  const families = groupBy([...groups], (group) =>
    JSON.stringify([group.class, group.verdict, ...listHeadlines(group).map(nameDelta)]),
  )
  return [...families.values()].map(merge).toSorted(compareGroups)
}

function merge(family: EffectGroup[]): EffectGroup {
  const [first, ...others] = family
  if (first === undefined) throw new RangeError('expected a group')
  const changed = [...new Set(family.flatMap(({ items }) => items))].toSorted()
  const known = others.map(({ deltas }) => new Set(deltas.map(nameDelta)))
  return {
    ...first,
    count: addUp(family, ({ count }) => count),
    domains: [...new Set(family.flatMap(({ domains }) => domains))].toSorted(),
    items: listCauses({ changed }, listHeadlines(first)),
    examples: [...new Set(family.flatMap(({ examples }) => examples))].slice(0, maxExamples),
    deltas: first.deltas.filter((delta) => known.every((names) => names.has(nameDelta(delta)))),
  }
}

function nameDelta({ field, before, after }: Delta): string {
  return JSON.stringify([field, before, after])
}

/** The order of groups is kept but for their counts. */
function compareGroups(a: EffectGroup, b: EffectGroup): number {
  return a.class === b.class && a.verdict === b.verdict ? b.count - a.count : 0
}
