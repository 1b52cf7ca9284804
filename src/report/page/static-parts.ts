import type { Page, PageApart } from '../../model/page.ts'

/** Entries of a list that are visible before the rest is opened, and that are kept at all. */
const [visibleEntries, maxEntries] = [6, 500]
/** Domains of an entry that are visible before the rest is opened, and that are named at all. */
const [visibleNames, maxNames] = [4, 300]

const kinds: Record<PageApart['kind'], string> = {
  released: 'Released',
  cleared: 'Cleared by another write',
  'on-hold': 'On hold',
  unmanaged: 'Not managed',
  'no-way-back': 'No rollback',
  conditional: 'Only if it differs',
  ignored: 'Ignored drift',
}

/** Escapes a text for HTML, in an element and in a quoted attribute. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
    .replaceAll("'", '&#39;')
}

/** Formats the summary: title, sentence and facts. */
export function formatSummary({ title, sentence, facts }: Page): string {
  const rows = facts.map(
    ([label, value]) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`,
  )
  return [
    `<p class="eyebrow">${escapeHtml(title)}</p>`,
    `<h1 data-sentence>${escapeHtml(sentence)}</h1>`,
    rows.length === 0 ? '' : `<dl class="facts">${rows.join('')}</dl>`,
  ].join('\n')
}

/** Formats the warnings; empty for none. */
export function formatWarnings(warnings: string[]): string {
  if (warnings.length === 0) return ''
  const heading = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`
  const list = formatList(warnings.map((warning) => `<li>${escapeHtml(warning)}</li>`))
  return (
    '<section class="panel notice warnings" data-warnings aria-labelledby="warnings">' +
    `<h2 id="warnings">${heading}</h2>${list}</section>`
  )
}

/** Formats what will not happen, or needs somebody; empty for nothing. */
export function formatApart(apart: PageApart[]): string {
  if (apart.length === 0) return ''
  const list = formatList(
    apart.map(
      ({ kind, text, domains }) =>
        `<li data-kind="${escapeHtml(kind)}"><span class="kind">${kinds[kind] ?? ''}:</span> ` +
        `${escapeHtml(text)}${formatNames(domains)}</li>`,
    ),
  )
  return (
    '<section class="panel notice" data-apart aria-labelledby="apart">' +
    `<h2 id="apart">What will not happen</h2>${list}</section>`
  )
}

function formatNames(domains: string[]): string {
  if (domains.length === 0) return ''
  const visible = domains.length <= visibleNames + 2 ? domains.length : visibleNames
  const format = (names: string[]) =>
    names.map((name) => `<span>${escapeHtml(name)}</span>`).join(' ')
  const names = `<div class="names">${format(domains.slice(0, visible))}</div>`
  const rest = domains.slice(visible, maxNames)
  if (rest.length === 0) return names
  const left = domains.length - maxNames
  const end = left > 0 ? ` and ${left} more` : ''
  return (
    `${names}<details><summary>${domains.length - visible} more domains</summary>` +
    `<div class="names">${format(rest)}${end}</div></details>`
  )
}

function formatList(entries: string[]): string {
  // Two entries take as much space as the line that opens them.
  const visible = entries.length <= visibleEntries + 2 ? entries.length : visibleEntries
  const list = `<ul>${entries.slice(0, visible).join('')}</ul>`
  const rest = entries.slice(visible, maxEntries)
  if (rest.length === 0) return list
  const left = entries.length - maxEntries
  const end = left > 0 ? `<li>and ${left} more</li>` : ''
  return (
    `${list}<details><summary>${entries.length - visible} more</summary>` +
    `<ul>${rest.join('')}${end}</ul></details>`
  )
}
