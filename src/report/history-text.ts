import type { OutcomeCounts } from '../model/outcome.ts'
import type { Paint } from './paint.ts'
import { visible } from './wrap.ts'

/** An apply, as far as its line of a history needs it. */
interface Entry {
  id: string
  startedAt: string
  endedAt: string | null
  commit: string | null
  author: string | null
  writes: OutcomeCounts
  outcome: string
}

/** A history in words: two lines for each apply. */
export function historyText(applies: Entry[], paint: Paint): string {
  if (applies.length === 0) return 'Nothing was applied yet.\n'
  return applies.map((apply) => entryText(apply, paint)).join('')
}

function entryText({ id, startedAt, endedAt, commit, author, writes, outcome }: Entry, paint: Paint): string {
  const { confirmed, refused, inDoubt, notSent } = writes
  const words: [number, string][] = [
    [confirmed, 'confirmed'],
    [refused, 'refused'],
    [inDoubt, 'in doubt'],
    [notSent, 'not sent'],
  ]
  const counts = words.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  const colour = outcome === 'complete' ? paint.green : paint.yellow
  const took = endedAt === null ? 'not ended' : `${Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))} s`
  const about = [
    startedAt,
    took,
    ...(author === null ? [] : [`by ${visible(author)}`]),
    ...(commit === null ? [] : [visible(commit).slice(0, 12)]),
  ]
  return `${id}  ${colour(outcome)}  ${counts.join(', ') || 'no write'}\n  ${paint.dim(about.join(' · '))}\n`
}
