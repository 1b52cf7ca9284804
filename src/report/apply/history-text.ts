import type { Applied } from '../../model/applied.ts'
import { formatCounts } from './text.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Formats the history: two lines for each apply. */
export function formatHistory(applies: Applied[], paint: Paint): string {
  if (applies.length === 0) return 'There are no applies yet.\n'
  return applies.map((apply) => formatEntry(apply, paint)).join('')
}

function formatEntry(
  { id, startedAt, endedAt, commit, author, writes, parts, outcome }: Applied,
  paint: Paint,
): string {
  const colour = outcome === 'complete' ? paint.green : paint.yellow
  const took =
    endedAt === null
      ? 'not finished'
      : `${Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))} s`
  // The process of an unfinished apply was killed, or still runs.
  const counts = formatCounts(writes, parts, outcome === 'unfinished' ? 'never begun' : 'not sent')
  const about = [
    startedAt,
    took,
    ...(author === null ? [] : [`by ${escapeInvisible(author)}`]),
    ...(commit === null ? [] : [escapeInvisible(commit).slice(0, 12)]),
  ]
  const first = `${id}  ${colour(outcome)}  ${counts || 'no write'}`
  return `${first}\n  ${paint.dim(about.join(' · '))}\n`
}
