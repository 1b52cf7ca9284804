import type { PageAnswer, PageEffects } from '../../../core/model/page/page-effects.ts'
import type { Page, PageLine, PagePart } from '../../../core/model/page/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatCount } from '../../../core/model/text/words.ts'

/** Longest text of a page, in UTF-16 code units. */
const maxText = 4000
/** Characters of the values of all parts, and the maximum and minimum of a part. */
const [maxTotal, maxOfPart, minOfPart] = [1_000_000, 50_000, 200]

/** Escapes invisible characters, and cuts a long text, with its length at the end. */
export function fitText(text: string, max = maxText): string {
  if (text.length <= max) return escapeInvisible(text)
  const start = escapeInvisible(text.slice(0, max))
  return `${start}… (cut, ${formatCount(text.length)} characters)`
}

/**
 * Makes a page fit into a file that a browser opens at once: cuts its texts, but those of its head,
 * which `beginPage` cuts, and the lines of its parts where all of them are too many. All texts are
 * safe to show, but not yet to put into HTML.
 */
export function fitPage(page: Page): Page {
  return {
    ...page,
    domains: page.domains.map((domain) => fitText(domain, 300)),
    items: page.items.map((item) => fitText(item, 300)),
    parts: fitParts(page.parts),
    changes: page.changes.map((change) => ({
      ...change,
      place: change.place === null ? null : fitText(change.place, 400),
      state: change.state === null ? null : fitText(change.state, 400),
    })),
    notices: page.notices.map(({ kind, text, domains }) => ({
      kind,
      text: fitNote(text),
      domains: domains.map((domain) => fitText(domain, 300)),
    })),
    // The configurations are data for the script, which shows none of their texts unescaped.
    ...(page.effects === undefined ? {} : { effects: fitEffects(page.effects) }),
  }
}

function fitEffects(effects: PageEffects): PageEffects {
  const fitAll = (texts: string[]) => texts.map((text) => fitText(text, 300))
  const fitAnswers = (answers: PageAnswer[]) =>
    answers.map(({ field, before, after }) => ({
      field: fitText(field, 100),
      before: fitText(before, 300),
      after: fitText(after, 300),
    }))
  return {
    ...effects,
    counts: fitText(effects.counts),
    hint: fitText(effects.hint),
    witnesses: effects.witnesses.map(({ item, domains, lines }) => ({
      item: fitText(item, 300),
      domains: fitAll(domains),
      lines: fitAll(lines),
    })),
    groups: effects.groups.map((group) => ({
      ...group,
      answers: fitAnswers(group.answers),
      others: fitAnswers(group.others),
      domains: fitAll(group.domains),
      items: fitAll(group.items),
      examples: fitAll(group.examples),
    })),
  }
}

/** Cuts the lines of parts: all parts to the same number of characters. */
function fitParts(parts: PagePart[]): PagePart[] {
  const sizes = parts.map(({ lines }) => lines.reduce((sum, line) => sum + measure(line), 0))
  const measureAll = (limit: number) => sizes.reduce((sum, size) => sum + Math.min(size, limit), 0)
  let limit = maxOfPart
  while (limit > minOfPart && measureAll(limit) > maxTotal) limit = Math.floor(limit / 2)
  return parts.map(({ note, lines, ...part }) => ({
    ...part,
    note: fitText(note),
    lines: fitLines(lines, limit),
  }))
}

/** Cuts lines to a number of characters; a remark counts what is missing. */
function fitLines(lines: PageLine[], limit: number): PageLine[] {
  let room = limit
  const kept: PageLine[] = []
  for (const line of lines) {
    room -= measure(line)
    // The first line shows at least its start.
    if (room < 0 && kept.length > 0) break
    kept.push({ ...line, text: fitText(line.text, Math.min(maxText, limit)) })
  }
  const rest = lines.length - kept.length
  if (rest === 0) return kept
  const text =
    `${formatCount(rest)} lines are left out, since this file would be too large: ` +
    '-v prints them.'
  return [...kept, { action: null, indent: 0, text, isRemark: true }]
}

/** Measures a line with the names of its fields in JSON. */
function measure({ text }: PageLine): number {
  return Math.min(text.length, maxText) + 60
}

/** Fits a text that may have line ends, which stay. */
function fitNote(text: string): string {
  return text.length > maxText
    ? fitText(text)
    : text
        .split(/\r?\n/)
        .map((line) => fitText(line))
        .join('\n')
}
