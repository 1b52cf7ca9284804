import type { Applied } from '../../model/applied.ts'
import { formatOutcomes } from './text.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** A history in words: two lines for each apply. */
export function formatHistory(applies: Applied[], paint: Paint): string {
  if (applies.length === 0) return 'Nothing was applied yet.\n'
  return applies.map((apply) => entryText(apply, paint)).join('')
}

function entryText(
  { id, startedAt, endedAt, commit, author, writes, outcome }: Applied,
  paint: Paint,
): string {
  const colour = outcome === 'complete' ? paint.green : paint.yellow
  const took =
    endedAt === null
      ? 'not ended'
      : `${Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))} s`
  const about = [
    startedAt,
    took,
    ...(author === null ? [] : [`by ${escapeInvisible(author)}`]),
    ...(commit === null ? [] : [escapeInvisible(commit).slice(0, 12)]),
  ]
  return `${id}  ${colour(outcome)}  ${formatOutcomes(writes).join(', ') || 'no write'}\n  ${paint.dim(about.join(' · '))}\n`
}
