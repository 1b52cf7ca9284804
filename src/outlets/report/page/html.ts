import type { LogEntry } from '../../../core/model/applied.ts'
import { escapeUnits } from '../../../core/model/json.ts'
import type { Tone } from '../../../core/model/page/fleet.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { countMore, formatCount, mapSome } from '../../../core/model/text/words.ts'

/** Escapes a text for HTML, in an element and in a quoted attribute. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
    .replaceAll("'", '&#39;')
}

/** Formats a text of anybody for HTML: without invisible characters, and escaped. */
export function show(text: string): string {
  return escapeHtml(escapeInvisible(text))
}

/** Formats the title and the sentence of a page, and its facts, whose values are HTML. */
export function formatSummary(
  title: string,
  sentence: string,
  facts: [label: string, html: string][],
  tone: Tone | 'busy' | null = null,
): string {
  return `<header class="summary"${tone === null ? '' : ` data-tone="${tone}"`}>
<p class="eyebrow">${show(title)}</p>
<h1 data-sentence>${show(sentence)}</h1>
${formatFacts(facts)}
</header>`
}

/** Formats facts as a list of names and values, which are HTML. */
export function formatFacts(facts: [label: string, html: string][]): string {
  if (facts.length === 0) return ''
  const rows = facts.map(([label, html]) => `<div><dt>${show(label)}</dt><dd>${html}</dd></div>`)
  return `<dl class="facts">${rows.join('')}</dl>`
}

/** Formats a state as a tag with the colour of its tone; `words` have no markup. */
export function formatTag(tone: Tone, words: string): string {
  return `<b class="tag" data-tone="${tone}">${words}</b>`
}

/** Formats an instant (ISO 8601); the script appends its age. */
export function formatInstant(iso: string): string {
  const text = show(iso.replace(/\.\d+Z$/, 'Z'))
  const readable = text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z$/, '$1 $2 UTC')
  return `<time datetime="${text}" data-age>${readable}</time>`
}

/** Formats names that are opened by a line; those after `max` are counted. */
export function formatNames(summary: string, ...names: Parameters<typeof listNames>): string {
  return `<details><summary>${summary}</summary>${listNames(...names)}</details>`
}

/** Formats names in a row; those after `max` are counted. Domains of a server are links. */
export function listNames(names: string[], max: number, isServed = false): string {
  const spans = mapSome(
    names,
    max,
    (name) => `<span>${formatDomain(name, isServed)}</span>`,
    countMore,
  )
  return `<div class="names">${spans.join(' ')}</div>`
}

/** Numbers of visible and of named entries of a list; the name of the others. */
interface Fold {
  visible: number
  max: number
  others: string
  className?: string
}

/** Formats entries, which are HTML: some, and the others when the reader opens them. */
export function formatList(
  entries: string[],
  { visible, max, others, className = '' }: Fold,
): string {
  const list = (items: string[]) =>
    `<ul${className === '' ? '' : ` class="${className}"`}>${items.join('')}</ul>`
  // Two entries take as much space as the line that opens them.
  if (entries.length <= visible + 2) return list(entries)
  const shown = mapSome(
    entries,
    max,
    (entry) => entry,
    (rest) => `<li>${countMore(rest)}</li>`,
  )
  const folded = formatCount(entries.length - visible)
  return (
    `${list(shown.slice(0, visible))}<details><summary>${folded} ` +
    `${others}</summary>${list(shown.slice(visible))}</details>`
  )
}

/** Formats the name of a domain, which leads to its page on a server. */
export function formatDomain(name: string, isServed: boolean): string {
  return formatLink(name, isServed ? `/domains/${encodeURIComponent(name)}` : undefined)
}

/** Formats a text that leads to a page, if it has one. */
export function formatLink(text: string, href?: string): string {
  return href === undefined ? show(text) : `<a href="${show(href)}">${show(text)}</a>`
}

/** Formats what happened as a list with a title; empty for nothing. */
export function formatLog(title: string, entries: LogEntry[], end = ''): string {
  if (entries.length === 0) return ''
  const list = entries.map(({ at, text, note, href }) => {
    const words = formatLink(text, href)
    return `<li>${formatInstant(at)} ${words}<p class="note">${show(note)}</p>`
  })
  return (
    `<section class="panel"><h2>${title}</h2>` +
    `<ol class="applies">${list.join('')}${end}</ol></section>`
  )
}

/** Formats data for a script as an element; no text in it can end the element, or hide. */
export function formatJson(id: string, data: unknown): string {
  const text = JSON.stringify(data).replaceAll(/[<>&\u2028\u2029\p{Cc}\p{Cf}]/gu, escapeUnits)
  return `<script type="application/json" id="${id}">${text}</script>`
}
