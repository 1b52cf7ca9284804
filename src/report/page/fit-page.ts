import type { Page, PageLine, PagePart } from '../../model/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Longest text of a page, in UTF-16 code units. */
const maxText = 4000
/** Characters of all lines before and after, which keep a page below 5 MB. */
const maxLineCharacters = 2_000_000
/** Numbers of lines of each part that are tried until all lines fit. */
const lineLimits = [2000, 400, 100, 30, 10, 3, 1, 0]

/** Escapes invisible characters, and cuts a long text, with its length at the end. */
export function fitText(text: string, max = maxText): string {
  if (text.length <= max) return escapeInvisible(text)
  const start = escapeInvisible(text.slice(0, max))
  return `${start}… (cut, ${text.length} characters)`
}

/**
 * Makes a page fit into a file that a browser opens at once: cuts its texts, and the lines of its
 * parts where all of them are too many. All texts are safe to show, but not yet to put into HTML.
 */
export function fitPage(page: Page): Page {
  return {
    ...page,
    title: fitText(page.title),
    sentence: fitText(page.sentence),
    facts: page.facts.map(([label, value]) => [fitText(label, 200), fitText(value, 400)]),
    domains: page.domains.map((domain) => fitText(domain, 300)),
    items: page.items.map((item) => fitText(item, 300)),
    parts: fitParts(page.parts),
    changes: page.changes.map((change) => ({
      ...change,
      place: change.place === null ? null : fitText(change.place, 400),
      state: change.state === null ? null : fitText(change.state, 400),
    })),
    apart: page.apart.map(({ kind, text, domains }) => ({
      kind,
      text: fitLines(text),
      domains: domains.map((domain) => fitText(domain, 300)),
    })),
    warnings: page.warnings.map(fitLines),
  }
}

function fitParts(parts: PagePart[]): PagePart[] {
  const fitted = parts.map((part) => ({
    ...part,
    note: fitText(part.note),
    lines: part.lines.slice(0, lineLimits[0]).map(fitLine),
  }))
  const limit = lineLimits.find((max) => countCharacters(fitted, max) <= maxLineCharacters) ?? 0
  return fitted.map((part, i) => {
    const left = (parts[i]?.lines.length ?? 0) - Math.min(part.lines.length, limit)
    if (left === 0) return part
    const text = `${left} lines are left out, since this file would be too large.`
    const remark: PageLine = { action: null, indent: 0, text, isRemark: true }
    return { ...part, lines: [...part.lines.slice(0, limit), remark] }
  })
}

function countCharacters(parts: PagePart[], max: number): number {
  let count = 0
  for (const { lines } of parts)
    for (const { text } of lines.slice(0, max)) count += text.length + 60
  return count
}

function fitLine(line: PageLine): PageLine {
  return { ...line, text: fitText(line.text) }
}

/** Fits a text that may have line ends, which stay. */
function fitLines(text: string): string {
  return text.length > maxText
    ? fitText(text)
    : text
        .split(/\r?\n/)
        .map((line) => fitText(line))
        .join('\n')
}
