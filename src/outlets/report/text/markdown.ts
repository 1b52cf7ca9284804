import { findMax } from '../../../core/model/lists.ts'
import { escapeInvisible } from './escape-invisible.ts'
import { formatCount } from '../../../core/model/text/words.ts'
import { cutMiddle } from './wrap.ts'

/** Length limit in characters; code hosts accept comments of up to 65,536. */
export const maxCharacters = 65_000

/**
 * Puts a text into a code fence longer than any run of backticks in it. Mentions, links and HTML
 * have no effect there.
 */
export function fenceText(text: string, language: 'text' | 'diff' = 'text'): string {
  const longest = findMax(
    Array.from(text.matchAll(/`+/g), ([run]) => run.length),
    2,
  )
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}\n`
}

/** Formats a text as a whole report; lines that don't fit are counted. */
export function formatTextReport(title: string, text: string): string {
  const lines = text.trimEnd().split('\n')
  let room = maxCharacters - 200
  const shown = lines.findIndex((line) => (room -= line.length + 1) < 0)
  const rest = shown === -1 ? [] : [`… and ${formatCount(lines.length - shown)} more lines`]
  const first = shown === -1 ? lines : lines.slice(0, shown)
  return `### ${title}\n\n${fenceText([...first, ...rest].join('\n'))}`
}

/** Formats a folded section. The title is HTML. */
export function foldText(title: string, text: string): string {
  return `<details><summary>${title}</summary>\n\n${fenceText(text)}\n</details>\n`
}

/** Formats a name as code in HTML. No character of it has an effect in HTML or Markdown. */
export function formatCodeHtml(text: string): string {
  const escaped = escapeInvisible(text).replace(
    /[^\p{L}\p{N} ._-]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  )
  return `<code>${escaped}</code>`
}

/**
 * Selects parts in order while they fit into `room` characters; a part that is too long is skipped.
 */
export function selectFitting<T extends { text: string }>(
  parts: T[],
  room: number,
): { selected: T[]; omitted: T[] } {
  const selected: T[] = []
  const omitted: T[] = []
  let free = room
  for (const part of parts) {
    const length = part.text.length + 1
    if (length > free) omitted.push(part)
    else {
      selected.push(part)
      free -= length
    }
  }
  return { selected, omitted }
}

/**
 * Joins the first lines of a list, each truncated, and the count of the rest.
 *
 * @param whole what lists all lines; empty if nothing does
 */
export function joinFirstLines(lines: string[], maxLines: number, whole = ''): string {
  const shown = lines.slice(0, maxLines).map((line) => cutMiddle(line, 500))
  const rest = lines.length - shown.length
  const hint = whole === '' ? '' : ` (${whole} lists them)`
  return [...shown, ...(rest > 0 ? [`… and ${formatCount(rest)} more${hint}`] : [])].join('\n')
}
