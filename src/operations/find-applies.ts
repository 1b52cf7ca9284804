import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Applied } from '../model/applied.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'

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
 * @param pruned applies whose state beforehand was pruned
 * @throws EdgewiseError `usage` when the history has no such apply, or it was pruned
 */
export function findApplies(history: Applied[], name: string, pruned: Applied[] = []): Applied[] {
  const found = findByName(history, name)
  if (found.length > 0) return found
  const gone = findByName(pruned, name).at(-1)
  if (gone !== undefined) throw createPrunedError(name, gone)
  throw new EdgewiseError(
    'usage',
    `there is no apply ${JSON.stringify(name)}.${didYouMean(
      name,
      history.map(({ id }) => id),
    )}`,
    '"edgewise state history" lists all applies.',
  )
}

function findByName(applies: Applied[], name: string): Applied[] {
  const rollout = groupApplies(applies).find(
    ([first]) => first !== undefined && parseApplyId(first.id).rollout === name,
  )
  return rollout ?? applies.filter(({ id }) => id === name)
}

function createPrunedError(name: string, { commit }: Applied): EdgewiseError {
  const own = commit === null ? '' : ` (commit ${escapeInvisible(commit)} has its own)`
  return new EdgewiseError(
    'usage',
    `apply ${JSON.stringify(name)} was pruned: the state before it is not stored any more`,
    `Apply earlier manifests instead${own}. "edgewise state history" lists what is left.`,
  )
}

function parseApplyId(id: string): { rollout: string; wave: number } {
  const [, rollout = id, wave = '0'] = /^(.+)-w([1-9]\d*)$/.exec(id) ?? []
  return { rollout, wave: Number(wave) }
}
