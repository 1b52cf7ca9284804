import { formatCount, pluralize } from '../../../core/model/text/words.ts'
import { pairEntries } from './pair-entries.ts'

/** Length up to which texts are shown whole. */
export const maxWhole = 100
/** Characters that stay beside a change; it has this length at most, where a list is meant. */
const near = 40

/**
 * Formats two texts around what differs, as the sides before and after: a long common beginning or
 * end is counted, as are the other entries of a list with commas. A side of a list without a
 * difference of its own is empty.
 */
export function formatDifference(before: string, after: string): [before: string, after: string] {
  if (Math.max(before.length, after.length) <= maxWhole) return [before, after]
  const [from, to] = [before.split(','), after.split(',')]
  const isList = [...from, ...to].every((entry) => /^\S+$/.test(entry) && entry.length <= near)
  if (isList) {
    const { removed, added, isReordered } = pairEntries(from, to, [])
    if (!isReordered) return [formatAround(from, removed), formatAround(to, added)]
  }
  return elideCommon(Array.from(before), Array.from(after))
}

/** Formats some entries of a list, and counts the others: `… 41 more, webp, … 19 more`. */
function formatAround(list: string[], shown: number[]): string {
  if (shown.length === 0) return ''
  return [...shown, list.length]
    .flatMap((i, n) => {
      const others = i - (shown[n - 1] ?? -1) - 1
      return [...(others === 0 ? [] : [`… ${formatCount(others)} more`]), ...list.slice(i, i + 1)]
    })
    .join(', ')
}

/** Elides characters that two texts have in common, far before and after what differs. */
function elideCommon(before: string[], after: string[]): [string, string] {
  const start = countCommon(before, after)
  const [from, to] = [before.slice(start).toReversed(), after.slice(start).toReversed()]
  const end = countCommon(from, to)
  const head = countFar(before.slice(0, start))
  const tail = countFar(from.slice(0, end))
  const elide = (text: string[]) =>
    (head === 0 ? '' : `… ${pluralize(head, 'character')} … `) +
    text
      .slice(head, text.length - tail)
      .join('')
      .trim() +
    (tail === 0 ? '' : ` … ${pluralize(tail, 'character')} …`)
  return [elide(before), elide(after)]
}

function countCommon(a: string[], b: string[]): number {
  const differing = a.findIndex((character, i) => character !== b[i])
  return differing === -1 ? a.length : differing
}

/** Counts the first characters of a common text that are far from its end, up to a word. */
function countFar(common: string[]): number {
  const far = common.length - near
  if (far < 20) return 0
  return (
    far +
    Math.max(
      0,
      common.slice(far, -10).findIndex((each) => /[\s,;]/.test(each)),
    )
  )
}
