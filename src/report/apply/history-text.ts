import type { Applied } from '../../model/applied.ts'
import { formatCounts } from './text.ts'
import { pluralize } from '../../model/words.ts'
import { describeTree } from '../../model/source-tree.ts'
import { formatTime } from '../../model/format-time.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** One apply; `pruned` if it can't be rolled back any more. */
type Entry = Applied & { pruned?: true }

/**
 * Formats the history: two lines for each apply, three for a pruned one.
 *
 * @param dropped number of earlier applies that are not listed
 */
export function formatHistory(applies: Entry[], paint: Paint, dropped = 0): string {
  if (applies.length === 0) return 'There are no applies yet.\n'
  const entries = applies.map((apply) => formatEntry(apply, paint)).join('')
  const more = pluralize(dropped, 'earlier apply is', 'earlier applies are')
  return dropped === 0 ? entries : `${entries}${more} not listed any more.\n`
}

/** Formats an apply: its outcome and counts, then when and by whom. */
export function formatEntry(apply: Entry, paint: Paint): string {
  const { id, startedAt, endedAt, author, writes, parts, outcome, pruned } = apply
  const tree = describeTree(apply)
  const colour = outcome === 'complete' ? paint.green : paint.yellow
  const took =
    endedAt === null
      ? outcome === 'unfinished'
        ? 'not finished'
        : 'its process ended without recording its end'
      : `${Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))} s`
  const counts = formatCounts(writes, parts, endedAt === null ? 'never begun' : 'not sent')
  const about = [
    formatTime(startedAt),
    took,
    ...(author === null ? [] : [`by ${escapeInvisible(author)}`]),
    ...(tree === null ? [] : [escapeInvisible(tree)]),
  ]
  const first = `${escapeInvisible(id)}  ${colour(outcome)}  ${counts || 'no write'}`
  const last = pruned === true ? `  ${paint.dim("pruned: can't be rolled back")}\n` : ''
  return `${first}\n  ${paint.dim(about.join(' · '))}\n${last}`
}
