import type { Action } from '../../model/change.ts'
import type { Page, PageLine, PagePart } from '../../model/page.ts'
import { pluralize } from '../../model/words.ts'
import { escapeHtml } from './static-parts.ts'

/** Parts that are listed, lines of each and all characters of lines, and named domains of each. */
const [maxParts, maxLines, maxCharacters, maxDomains] = [100, 40, 60_000, 20]

const signs: Record<Action, string> = { set: '+', change: '~', unset: '-', release: '○' }

/**
 * Formats the changes as a list for a browser that runs no scripts, as where a page is shown in a
 * sandbox. The script replaces it by the matrix and the cards.
 */
export function formatChanges(page: Page): string {
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
    const card = formatCard(part, page.items[part.item] ?? '', names, room)
    room -= card.used
    cards.push(card.html)
  }
  const rest = domains.size - cards.length
  const more = rest === 0 ? '' : `<p class="none">… and ${pluralize(rest, 'other')}.</p>`
  return (
    '<p class="panel notice">This browser runs no scripts. The matrix, the time line and the ' +
    'filters need them.</p><section class="panel" data-static aria-labelledby="static">' +
    `<h2 id="static">${pluralize(page.changes.length, 'change')}</h2>` +
    `${cards.join('')}${more}</section>`
  )
}

function formatCard(
  part: PagePart,
  item: string,
  names: string[],
  room: number,
): { html: string; used: number } {
  const { action, lines, note, isDestructive } = part
  let used = 0
  const shown: PageLine[] = []
  for (const line of lines.slice(0, maxLines)) {
    used += line.text.length
    if (used > room) break
    shown.push(line)
  }
  const rest = lines.length - shown.length
  const text = [
    ...shown.map(
      (line) =>
        `${line.action === null ? ' ' : signs[line.action]} ` +
        `${'  '.repeat(Math.min(line.indent, 24))}${line.text}`,
    ),
    ...(rest === 0 ? [] : [`… and ${pluralize(rest, 'more line', 'more lines')}`]),
  ].join('\n')
  const more = names.length > maxDomains ? ` and ${names.length - maxDomains} more` : ''
  const html =
    `<article class="card" data-action="${escapeHtml(action)}">` +
    `<h3>${signs[action] ?? ''} <code>${escapeHtml(item)}</code> ${escapeHtml(action)}` +
    `${isDestructive ? ' <strong class="destructive">Destructive</strong>' : ''}</h3>` +
    (note === '' ? '' : `<p class="note">${escapeHtml(note)}</p>`) +
    (text === '' ? '' : `<pre class="lines static">${escapeHtml(text)}</pre>`) +
    `<p class="note">${escapeHtml(names.slice(0, maxDomains).join(', '))}${more}</p></article>`
  return { html, used }
}
