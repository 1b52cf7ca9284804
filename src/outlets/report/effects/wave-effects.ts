import type { Effects } from '../../../core/effects/group.ts'
import { groupBy } from '../../../core/model/lists.ts'
import type { Plan } from '../../../core/model/plan.ts'
import { mapSome, pluralize } from '../../../core/model/text/words.ts'
import { mergeAlike, isUnknownTwice, describeGroup } from './describe-effects.ts'

/** Most effects that are named for a wave. */
const maxNamed = 3

/** Finds for each wave the positions of the groups of effects that no earlier wave tries. */
export function findWaveEffects(
  { writes }: Pick<Plan, 'writes'>,
  { groups }: Pick<Effects, 'groups'>,
): Map<number, number[]> {
  const tried = new Set<number>()
  const waves = [...groupBy(writes, ({ wave }) => wave)].toSorted(([a], [b]) => a - b)
  return new Map(
    waves.map(([wave, own]) => {
      const written = new Set(own.flatMap(({ domains }) => domains))
      const fresh = [...groups.keys()].filter(
        (i) => !tried.has(i) && groups[i]?.domains.some((domain) => written.has(domain)),
      )
      for (const i of fresh) tried.add(i)
      return [wave, fresh]
    }),
  )
}

/** Describes the effects that each wave is the first to try; empty with a single wave or effect. */
export function describeWaveEffects(plan: Pick<Plan, 'writes'>, effects: Effects): string[] {
  const groups = mergeAlike(effects.groups.filter((group) => !isUnknownTwice(group)))
  const waves = findWaveEffects(plan, { groups })
  if (waves.size < 2 || groups.length < 2) return []
  return [...waves].flatMap(([wave, fresh]) => {
    const own = fresh.flatMap((i) => groups[i] ?? [])
    const countRest = (rest: number) => `and ${pluralize(rest, 'more effect')}`
    const named = mapSome(own, maxNamed, describeGroup, countRest)
    return own.length === 0 ? [] : [`wave ${wave} is the first to show: ${named.join('; ')}`]
  })
}
