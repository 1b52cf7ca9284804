import { addUp } from '../../../core/model/lists.ts'
import type { Page, PageLine, PagePart } from '../../../core/model/page/page.ts'
import { escapeInvisible, escapeInvisibleInLines } from '../text/escape-invisible.ts'
import { cutMiddle } from '../text/wrap.ts'
import { formatCount } from '../../../core/model/text/words.ts'

/** Longest text of a page, in UTF-16 code units. */
const maxText = 4000
/** Characters of the values of all parts, and the maximum and minimum of a part. */
const [maxTotal, maxOfPart, minOfPart] = [1_000_000, 50_000, 200]

/** Characters of the names of the fields of a line in JSON. */
const names = 60

/** Escapes invisible characters, and cuts the middle of a long text. */
export function fitText(text: string, max = maxText): string {
  return escapeInvisible(cutMiddle(text, max))
}

/**
 * Makes a page fit into a file that a browser opens at once: cuts its texts, but those of its head,
 * which `beginPage` cuts, and the lines of its parts where all of them are too many. All texts are
 * safe to show, but not yet to put into HTML.
 */
export function fitPage(page: Page): Page {
  const { domains, items, changes, effects } = page
  return {
    ...page,
    // The configurations are data for the script, which shows none of their texts unescaped.
    ...fitTexts({ domains, items, changes, effects }),
    parts: fitParts(page.parts),
    notices: page.notices.map((notice) => ({
      ...fitTexts(notice),
      text: escapeInvisibleInLines(cutMiddle(notice.text, maxText)),
    })),
  }
}

/** Fits each text of a value, which is JSON but for absent fields. */
function fitTexts<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? fitText(each, 400) : each,
  ) as T
}

/** Cuts the lines of parts: all parts to the same number of characters. */
function fitParts(parts: PagePart[]): PagePart[] {
  const sizes = parts.map(({ lines }) => measure(lines))
  const measureAll = (limit: number) => addUp(sizes, (size) => Math.min(size, limit))
  let limit = maxOfPart
  while (limit > minOfPart && measureAll(limit) > maxTotal) limit = Math.floor(limit / 2)
  return parts.map(({ note, lines, ...part }) => ({
    ...part,
    note: fitText(note),
    lines: fitLines(lines, limit),
  }))
}

/** Cuts lines to a number of characters, 120 for each at least; a remark counts what is missing. */
function fitLines(lines: PageLine[], limit: number): PageLine[] {
  const isShort = measure(lines) <= limit
  const count = isShort ? lines.length : Math.min(lines.length, Math.floor(limit / 120))
  const room = isShort ? maxText : Math.floor(limit / count) - names
  const kept = lines.slice(0, count).map((line) => ({ ...line, text: fitText(line.text, room) }))
  const rest = lines.length - kept.length
  if (rest === 0) return kept
  const text =
    `${formatCount(rest)} lines are left out, since this file would be too large: ` +
    '-v prints them.'
  return [...kept, { action: null, indent: 0, text, isRemark: true }]
}

function measure(lines: PageLine[]): number {
  return addUp(lines, ({ text }) => Math.min(text.length, maxText) + names)
}
