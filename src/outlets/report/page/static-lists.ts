import { symbols } from '../../../core/model/change.ts'
import type { Page, PageApply, PagePart } from '../../../core/model/page/page.ts'
import { formatCount, formatTime, pluralize } from '../../../core/model/text/words.ts'
import { fitText } from './fit-page.ts'
import { formatTable } from './format-table.ts'
import { getRolloutPath } from './format-rollout.ts'
import { formatDomain, formatLink, listNames, show } from './html.ts'

/** Parts that are listed, characters of a line and of all, and named domains of each. */
const [maxParts, maxLine, maxCharacters, maxDomains] = [100, 480, 60_000, 20]

/**
 * Formats the changes as a list for a browser that runs no scripts, as where a page is shown in a
 * sandbox. The script replaces it by the matrix and the cards.
 */
export function formatChanges(page: Page, isServed: boolean): string {
  if (page.changes.length === 0) return ''
  const domains = new Map<number, string[]>()
  for (const { part, domain } of page.changes) {
    const names = domains.get(part) ?? []
    if (names.length === 0) domains.set(part, names)
    names.push(page.domains[domain] ?? '')
  }
  let room = maxCharacters
  const cards: string[] = []
  for (const [position, names] of domains) {
    const part = page.parts[position]
    if (part === undefined || cards.length === maxParts || room <= 0) break
    const list = listNames(names, maxDomains, isServed)
    const card = formatCard(part, page.items[part.item] ?? '', list, room)
    room -= card.used
    cards.push(card.html)
  }
  const rest = domains.size - cards.length
  const more = rest === 0 ? '' : `<p class="none">… and ${pluralize(rest, 'other')}.</p>`
  return (
    '<p class="callout">This browser runs no scripts: it has no matrix and no filters.</p>' +
    '<section class="panel" data-static aria-labelledby="static">' +
    `<h2 id="static">${pluralize(page.changes.length, 'change')}</h2>` +
    `${cards.join('')}${more}</section>`
  )
}

function formatCard(
  part: PagePart,
  item: string,
  names: string,
  room: number,
): { html: string; used: number } {
  const { action, lines, note, isDestructive } = part
  let used = 0
  const shown: string[] = []
  for (const line of lines) {
    const text = fitText(line.text, maxLine)
    used += text.length
    if (used > room) break
    const mark = line.action === null ? ' ' : symbols[line.action]
    shown.push(show(`${mark} ${'  '.repeat(Math.min(line.indent, 24))}${text}`))
  }
  const rest = lines.length - shown.length
  if (rest > 0) shown.push(`… and ${pluralize(rest, 'more line')}`)
  const html =
    `<article class="card" data-action="${action}">` +
    `<h3>${symbols[action]} <code>${show(item)}</code> ${action}` +
    `${isDestructive ? ' <strong class="tag destructive">Destructive</strong>' : ''}</h3>` +
    (note === '' ? '' : `<p class="note">${show(note)}</p>`) +
    (shown.length === 0 ? '' : `<pre class="lines static">${shown.join('\n')}</pre>`) +
    `${names}</article>`
  return { html, used }
}

/** Most rows of the table. */
const maxRows = 300

/**
 * Formats the latest applies as a table, which is read without scripts; empty for none.
 *
 * @param domains whose names lead to their pages, as rollouts do; null without such pages
 */
export function formatHistoryTable(applies: PageApply[], domains: string[] | null): string {
  if (applies.length === 0) return ''
  const left = applies.length - maxRows
  const known = new Set(domains ?? [])
  return formatTable(
    {
      caption: 'Applies',
      columns: [
        'Outcome',
        'Apply',
        'Started',
        'Took',
        'Author',
        'Why',
        'Manifests',
        'Writes',
        'Items',
      ],
      rows: applies.slice(0, maxRows).map((apply) => {
        const { id, rollout, outcome, startedAt, took, author, grounds, tree, writes, parts } =
          apply
        const html = `<b class="tag" data-outcome="${show(outcome)}">${show(outcome)}</b>`
        const own = `<a id="apply=${show(id)}" href="#apply=${show(id)}">${show(id)}</a>`
        const of =
          rollout === null || domains === null
            ? ''
            : ` ${formatLink('rollout', getRolloutPath(rollout.id))}`
        const why = { html: formatDomainsIn(fitText(grounds), known) }
        const about = [took, author ?? '', why, tree ?? '', writes, parts]
        return [{ html }, { html: own + of }, formatTime(startedAt), ...about]
      }),
      note:
        left > 0 ? `${formatCount(left)} earlier ones: "edgewise state history" lists them.` : '',
    },
    // The page was built without secrets.
    (text) => text,
  )
}

/** Formats a text in which the names of known domains lead to their pages. */
function formatDomainsIn(text: string, known: ReadonlySet<string>): string {
  const words = text.split(/([^\s,:;]+)/)
  return words.map((word) => formatDomain(word, known.has(word))).join('')
}
