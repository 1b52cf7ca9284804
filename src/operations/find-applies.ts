import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Applied } from '../model/applied.ts'

/**
 * The applies of a history in groups, first to last: the waves of one rollout (`<id>-w1`,
 * `<id>-w2`, …) are one.
 */
export function groupApplies(history: Applied[]): Applied[][] {
  return [...groupBy(history, ({ id }) => waveOf(id).rollout).values()].map((waves) =>
    waves.toSorted((a, b) => waveOf(a.id).wave - waveOf(b.id).wave),
  )
}

/**
 * The applies that a name stands for, first to last: one by its id, or every wave of a rollout by
 * the rollout's.
 *
 * @throws EdgewiseError `usage` when the history has no such apply
 */
export function findApplies(history: Applied[], name: string): Applied[] {
  const rollout = groupApplies(history).find(
    ([first]) => first !== undefined && waveOf(first.id).rollout === name,
  )
  const found = rollout ?? history.filter(({ id }) => id === name)
  if (found.length > 0) return found
  throw new EdgewiseError(
    'usage',
    `there is no apply ${JSON.stringify(name)}.${didYouMean(
      name,
      history.map(({ id }) => id),
    )}`,
    '"edgewise state history" lists all applies.',
  )
}

function waveOf(id: string): { rollout: string; wave: number } {
  const [, rollout = id, wave = '0'] = /^(.+)-w([1-9]\d*)$/.exec(id) ?? []
  return { rollout, wave: Number(wave) }
}
