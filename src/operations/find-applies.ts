import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Applied } from '../model/applied.ts'

/**
 * Groups the applies of a history, first to last: the waves of a rollout (`<id>-w1`, `<id>-w2`, …)
 * form one group.
 */
export function groupApplies(history: Applied[]): Applied[][] {
  return [...groupBy(history, ({ id }) => parseApplyId(id).rollout).values()].map((waves) =>
    waves.toSorted((a, b) => parseApplyId(a.id).wave - parseApplyId(b.id).wave),
  )
}

/**
 * Finds applies by name, first to last: a single apply by its id, or every wave by the rollout's
 * id.
 *
 * @throws EdgewiseError `usage` when the history has no such apply
 */
export function findApplies(history: Applied[], name: string): Applied[] {
  const rollout = groupApplies(history).find(
    ([first]) => first !== undefined && parseApplyId(first.id).rollout === name,
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

function parseApplyId(id: string): { rollout: string; wave: number } {
  const [, rollout = id, wave = '0'] = /^(.+)-w([1-9]\d*)$/.exec(id) ?? []
  return { rollout, wave: Number(wave) }
}
