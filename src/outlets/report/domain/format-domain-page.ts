import { nameAuthor, type HistoryEntry, type PastChange } from '../../../core/model/applied.ts'
import { symbols, type Change } from '../../../core/model/change.ts'
import type { ItemKey } from '../../../core/model/item.ts'
import { groupBy } from '../../../core/model/lists.ts'
import {
  findState,
  fleetStates,
  stateLooks,
  summarizeStates,
  type Tone,
} from '../../../core/model/page/fleet.ts'
import type { PageLine } from '../../../core/model/page/page.ts'
import type { Place } from '../../../core/model/problem.ts'
import { describeTree } from '../../../core/model/source-tree.ts'
import { formatTime, listSome, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { driftHint } from '../drift/text.ts'
import { buildPartContent } from '../page/build-matrix.ts'
import { fitText } from '../page/fit-page.ts'
import { formatFacts, formatInstant, formatLog, formatTag, show } from '../page/html.ts'
import { shareParts } from '../plan/blocks.ts'
import { rateState } from './fleet-row.ts'
import type { DomainSheet, SheetItem } from './sheet.ts'
import {
  describeCondition,
  describeLastChange,
  describePending,
  findUsual,
  formatLine,
  listItemLines,
  listRemarks,
} from './text.ts'

/** An apply of a domain, and the outcome of each item. */
export type DomainApply = HistoryEntry & {
  items: ReadonlyMap<ItemKey, Pick<PastChange, 'outcome' | 'message'>>
}

/** What a page of a domain shows beside its sheet. */
export interface DomainAbout {
  /** Id of the workspace. */
  workspace: string
  /** Time of the page, ms since 1970. */
  now: number
  /** Address of the list of all domains; null without one. */
  home: string | null
  /** Applies of the domain, first to last. */
  applies: readonly DomainApply[]
  /** Finds the address of a line of a manifest at the code host; null without one. */
  findLink(place: Place): string | null
  /** When its observed values were read, ISO 8601; absent: as of now, or not at all. */
  checkedAt?: string | null
  /** Replaces the secrets in a text. */
  redact(text: string): string
}

/** Applies, their named items, and lines of a value or a difference, that a page has. */
const [maxApplies, maxNames, maxLines] = [20, 8, 200]
/** Longest text of a line, in UTF-16 code units. */
const maxText = 1000

/** Describes the state of a domain for the tab of its page: the title, and the tone of the icon. */
export function describeDomainTab({ domain, items }: DomainSheet): { title: string; tone: Tone } {
  const { words, tone } = stateLooks[findState(items.map(rateState))]
  return { title: `${words}: ${domain}`, tone }
}

/**
 * Formats all that is known of a domain as the content of a page, which needs no script: its state,
 * its items, the most urgent first, and its applies. Every text may be hostile, and is escaped.
 */
export function formatDomainPage(sheet: DomainSheet, about: DomainAbout): string {
  const { head, main } = formatDomainParts(sheet, about)
  return head + main
}

/** Formats the page of a domain as its head, and what comes after it. */
export function formatDomainParts(
  sheet: DomainSheet,
  about: DomainAbout,
): Record<'head' | 'main', string> {
  const { domain, items } = sheet
  const fit = (text: string) => fitText(about.redact(text), maxText)
  const put = (text: string) => show(fit(text))
  const usual = {
    change: findUsual(items, describeLastChange),
    condition: findUsual(items, (item) => describeCondition(item, about.now)),
  }
  const sorted = items.toSorted(
    (a, b) => fleetStates.indexOf(rateState(a)) - fleetStates.indexOf(rateState(b)),
  )
  const head = `<header class="summary" data-tone="${describeDomainTab(sheet).tone}">
<p class="eyebrow">${formatHome(about, put)}</p>
<h1>${put(domain)}</h1>
<p class="verdict" data-sentence>${summarizeStates(items.map(rateState), 'item')}</p>
${formatFacts(listFacts(sheet, usual, about, put))}
</header>
`
  const main = `<div class="sheet">
${sorted.map((item) => formatItem(item, usual, about.now, put)).join('')}
</div>
${formatApplies(about, items.length, fit)}`
  return { head, main }
}

type Put = (text: string) => string

function formatHome({ home, workspace }: DomainAbout, put: Put): string {
  const all = home === null ? 'Domain' : `<a href="${show(home)}">All domains</a>`
  return `${all} of ${put(workspace)}`
}

/** What most items have in common, which is shown once; null for nothing. */
interface Usual {
  change: string | null
  condition: string | null
}

function listFacts(
  { place, profiles, owners, recordedOnly, items }: DomainSheet,
  usual: Usual,
  { now, findLink, checkedAt = null }: DomainAbout,
  put: Put,
): [label: string, html: string][] {
  const link = place === null ? null : findLink(place)
  const text = place === null ? 'in no manifest' : `<code>${put(formatLine(place))}</code>`
  const list = (label: string, value: string | null): [string, string][] =>
    value === null || value === '' ? [] : [[label, put(value)]]
  return [
    recordedOnly === null
      ? ['Declared', link === null ? text : `<a href="${show(link)}">${text}</a>`]
      : ['Shown', put(recordedOnly)],
    ...list('Profiles', profiles.join(', ')),
    ...list('Owners', owners.join(', ')),
    ...list('Most items', usual.condition),
    ...list('Most items were', describeNewest(items) === usual.change ? null : usual.change),
    ...list('Last change', describeNewest(items)),
    ...(checkedAt === null ? [] : [['Drift check', formatInstant(checkedAt)] as [string, string]]),
    ['As of', formatInstant(new Date(now).toISOString())],
  ]
}

/** Describes the latest change of any item, and names the items if it was not of all. */
function describeNewest(items: readonly SheetItem[]): string | null {
  const times = items.flatMap(({ changed }) => changed?.at ?? [])
  const newest = times.toSorted().at(-1)
  const changed = items.filter((item) => item.changed !== null && item.changed.at === newest)
  const [first] = changed
  if (first === undefined) return null
  const what = describeLastChange(first)
  if (changed.length === items.length || what === null) return what
  const names = changed.map(({ item }) => item)
  return `${listSome(names, maxNames)}: ${what}`
}

/** Formats an item: what is said of most of them is left out. */
function formatItem(item: SheetItem, usual: Usual, now: number, put: Put): string {
  const state = rateState(item)
  const { words, tone } = stateLooks[state]
  const tag = state === 'recorded' ? words : formatTag(tone, words)
  const own = [
    { text: describeCondition(item, now), usual: usual.condition },
    { text: describeLastChange(item), usual: usual.change },
  ]
  const known = own.flatMap((each) => (each.text === each.usual ? [] : (each.text ?? [])))
  return (
    `<section><h2><code>${put(item.item)}</code> ${tag}</h2>` +
    (known.length === 0 ? '' : `<p class="note">${put(known.join(' · '))}</p>`) +
    listRemarks(item)
      .map((remark) => `<p class="remark">${put(remark)}</p>`)
      .join('') +
    formatChange(describePending(item), item.pending, put) +
    formatChange(describeLive(item), item.live, put) +
    (item.pending === null && item.live === null
      ? ''
      : `<p class="note">As ${item.value === null ? 'recorded' : 'declared'}:</p>`) +
    `${formatFields(item, put)}</section>`
  )
}

function describeLive({ since }: SheetItem): string {
  const from = since === null ? '' : ` since ${formatTime(since)} or before`
  return `at the service${from}: it has this value (recorded → now). ${driftHint}`
}

/**
 * Formats the value as a list of fields, without the end tags that HTML leaves out. A source is
 * that of the field above, where there is none, or in the same file, where it is only a line.
 */
function formatFields(item: SheetItem, put: Put): string {
  const lines = listItemLines(item, false)
  let lastField: string | null = null
  let lastSource = ''
  const formatOne = ({ field, text, source }: (typeof lines)[number]) => {
    const isNew = field !== lastField
    const term = isNew && field !== '' ? `<dt>${put(field)}` : ''
    const where = isNew && source !== '' && source !== lastSource ? shorten(source, lastSource) : ''
    lastField = field
    if (source !== '') lastSource = source
    return `${term}<dd>${put(text)}${where === '' ? '' : `<small>${put(where)}</small>`}`
  }
  const countRest = (rest: number) => `<dt><dd>and ${pluralize(rest, 'more line')}`
  return `<dl>${mapSome(lines, maxLines, formatOne, countRest).join('')}</dl>`
}

/** Shortens a source in the file of the one before it to its line: `:12`. */
function shorten(source: string, before: string): string {
  const end = source.lastIndexOf(':')
  return before.startsWith(source.slice(0, end + 1)) ? source.slice(end) : source
}

function formatChange(title: string, change: Change | null, put: Put): string {
  if (change === null) return ''
  const [part] = shareParts([change]).map((shared) => buildPartContent(shared.part))
  const { note = '', lines = [] } = part ?? {}
  const heading = put(note === '' ? title : `${title}; ${note}`)
  return `<p class="remark">${heading}</p>${formatChangedLines(lines, put)}`
}

/** Formats the lines of a change; `put` escapes a text. Empty for none. */
export function formatChangedLines(lines: PageLine[], put: Put): string {
  const drawn = lines.map(({ action, text, indent, isRemark }) => {
    const sign = action === null ? ' ' : symbols[action]
    const own = action === null ? '' : ` data-action="${action}"`
    return (
      `<div class="line${isRemark ? ' remark' : ''}"${own}><span class="mark">${sign}</span>` +
      `<span class="text" dir="auto">${'  '.repeat(Math.min(indent, 24))}${put(text)}</span></div>`
    )
  })
  return drawn.length === 0 ? '' : `<div class="lines">${drawn.join('')}</div>`
}

function formatApplies({ applies, home }: DomainAbout, all: number, fit: Put): string {
  const latest = applies.slice(-maxApplies).toReversed()
  const entries = latest.map(({ items, ...apply }) => {
    const outcomes = groupBy(items, ([, { outcome, message = '' }]) =>
      message === '' ? outcome : `${outcome} (${message})`,
    )
    const what = Array.from(outcomes, ([outcome, same]) => {
      const names = same.map(([item]) => item)
      const isAll = names.length > maxNames && names.length === all
      return `${outcome}: ${isAll ? `all ${all} items` : listSome(names, maxNames)}`
    })
    const who = [nameAuthor(apply), describeTree(apply), `apply ${apply.id}`]
    const note = fit(who.filter((text) => text !== null).join(' · '))
    const href = home === '/domains' ? `/history#apply=${apply.id}` : undefined
    return { at: apply.startedAt, text: fit(what.join('; ')), note, href }
  })
  if (entries.length === 0) return '<p class="note">None of the latest applies wrote it.</p>'
  const left = applies.length - latest.length
  const earlier = `<li>and ${pluralize(left, 'earlier apply', 'earlier applies')}`
  return formatLog('Applies', entries, left > 0 ? earlier : '')
}
