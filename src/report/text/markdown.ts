import { escapeInvisible } from './escape-invisible.ts'

/** Comments of code hosts end at 65,536 characters; what does not fit is counted. */
export const maxCharacters = 65_000

/**
 * A text in which nothing is Markdown: a code fence that is longer than any run of backticks in it.
 * Mentions, links and HTML mean nothing there.
 */
export function fenceText(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}\n`
}

/** A folded part. The title is HTML. */
export function foldText(title: string, text: string): string {
  return `<details><summary>${title}</summary>\n\n${fenceText(text)}\n</details>\n`
}

/** A name as code within a line of HTML. */
export function formatCodeHtml(text: string): string {
  const escaped = escapeInvisible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  return `<code>${escaped}</code>`
}

/**
 * As many of the parts as fit into so many characters, in their order: one that is too long makes
 * no other one go.
 */
export function selectFitting<T extends { text: string }>(
  parts: T[],
  room: number,
): { kept: T[]; left: T[] } {
  const kept: T[] = []
  const left: T[] = []
  let free = room
  for (const part of parts) {
    const length = part.text.length + 1
    if (length > free) left.push(part)
    else {
      kept.push(part)
      free -= length
    }
  }
  return { kept, left }
}

/** The first lines of a list, each of a bounded length, and how many there are besides. */
export function joinFirstLines(lines: string[], most: number): string {
  const shown = lines
    .slice(0, most)
    .map((line) => (line.length > 500 ? `${line.slice(0, 500)}…` : line))
  const rest = lines.length - shown.length
  return [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].join('\n')
}
