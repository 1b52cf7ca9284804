import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Applied } from '../model/applied.ts'
import { groupApplies, parseApplyId } from '../model/group-applies.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'

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
