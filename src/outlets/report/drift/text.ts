import { nameChange, type Change } from '../../../core/model/change.ts'
import { isDrifted, type Drift, type DriftItem } from '../../../core/model/drift.ts'
import { findMax, findMin, groupBy, groupDomains } from '../../../core/model/lists.ts'
import { listCounts, listSome, pluralize } from '../../../core/model/text/words.ts'
import { summarizeDrift, hasDrift } from './json.ts'
import { groupChanges } from '../plan/blocks.ts'
import type { PlanTextOptions } from '../plan/format-block.ts'
import { formatStays } from '../plan/summary.ts'
import { formatBlocks } from '../plan/text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

const maxDomains = 12

/** What to do about a difference at the service. */
export const driftHint =
  '"edgewise drift --live --repair" (--observed without read-back) writes the recorded values ' +
  'again; to keep those of the service, change the manifests.'

/** A part of drift: changes, or lines about items. */
export type DriftSection = { title: string } & ({ changes: Change[] } | { lines: string[] })

/** Lists the parts of drift that are not empty. */
export function listDriftSections({ pending, live, inDoubt, items }: Drift): DriftSection[] {
  const waiting = items.filter(({ kinds }) => kinds.includes('waiting'))
  const wait = new Set(waiting.map(nameChange))
  const sections: DriftSection[] = [
    {
      title: 'Pending: the manifests differ from state',
      changes: pending.filter((change) => !wait.has(nameChange(change))),
    },
    {
      title:
        'On hold: a rollout was stopped or rolled back; skipped until the manifests change ' +
        '(apply --retry-held)',
      lines: listItemNames(items.filter(({ held }) => held)),
    },
    { title: 'Waiting: a rollout sends them with a later wave', lines: listItemNames(waiting) },
    { title: 'At the service: it differs from state', changes: live },
    {
      title: 'Unreadable: the observed value is invalid or not comparable',
      lines: listUnreadable(items),
    },
    {
      title: 'Ignored: the service differs, and drift.ignore has a reason',
      lines: listIgnored(items),
    },
    { title: 'In-doubt: an apply ended with an unknown outcome', lines: listItemNames(inDoubt) },
    {
      title: 'Not verifiable: not observed or not comparable; assumed to be as recorded',
      lines: listNotVerifiable(items),
    },
  ]
  const isEmpty = (section: DriftSection) =>
    ('lines' in section ? section.lines : section.changes).length === 0
  return sections.filter((section) => !isEmpty(section))
}

/**
 * Formats drift as text: its sections, then the summary. Ends without a line break.
 *
 * @param now milliseconds since 1970, for the age of assumed items
 */
export function formatDrift(drift: Drift, now: number, options: PlanTextOptions): string {
  const { paint, columns } = options
  const sections = listDriftSections(drift).map((section) => {
    const parts =
      'lines' in section
        ? section.lines.map((line) => wrap(line, columns, '  '))
        : formatBlocks(groupChanges(section.changes), options)
    return `${paint.bold(section.title)}\n\n${parts.join('\n\n')}`
  })
  const summary = formatDriftSummary(drift, now).map((line) => wrap(line, columns, ''))
  return [...sections, summary.join('\n')].join('\n\n')
}

/**
 * Formats the summary: differences, then the confidence of all items. Assumed items are never
 * called in sync.
 */
export function formatDriftSummary(drift: Drift, now: number): string[] {
  const { assumed, pending, waiting, live, held, ignored, unanswered, stays } =
    summarizeDrift(drift)
  const observed = drift.items.filter(({ confidence }) => confidence === 'verified')
  const differing = observed.filter(isDrifted).length
  const verified = observed.filter((each) => !isDrifted(each) && each.ignored === undefined).length
  const without = observed.length - differing - verified
  const inDoubt = new Set(drift.inDoubt.map(nameChange))
  const isInDoubt = (each: DriftItem) => inDoubt.has(nameChange(each))
  const isUnreadable = (each: DriftItem) => each.unreadable !== undefined
  const unreadable = drift.items.filter((each) => isUnreadable(each) && !isInDoubt(each)).length
  const neverApplied = ({ confidence, recordedAt }: DriftItem) =>
    // Unreadable items are counted separately.
    confidence === 'in-doubt' && recordedAt === null
  const unrecorded = drift.items.filter((each) => neverApplied(each) && !isUnreadable(each)).length
  const differences = listCounts([
    [pending - held, 'pending'],
    [held, 'on hold'],
    [live, 'at the service'],
    [drift.inDoubt.length, 'in-doubt'],
    [stays, 'value stays', 'values stay'],
    [unanswered, 'domain not at the service', 'domains not at the service'],
  ])
  const known = listCounts([
    [verified, 'as recorded'],
    [differing, 'differs', 'differ'],
    [without, 'ignored'],
    [assumed, `assumed as recorded (${formatAges(drift.items, now)})`],
    [drift.inDoubt.length, 'in-doubt'],
    [unreadable, 'unreadable'],
    [unrecorded, 'never applied'],
  ])
  if (drift.items.length === 0) return ['No item is managed or recorded.']
  return [
    hasDrift(drift)
      ? 'Drift: ' +
        `${differences.length === 0 ? `${unrecorded} never applied` : differences.join(', ')}.`
      : 'No differences were found.',
    `Of ${pluralize(drift.items.length, 'item')}: ${known.join(', ')}.`,
    ...(waiting === 0
      ? []
      : [`${pluralize(waiting, 'item waits', 'items wait')} for a later wave: no drift.`]),
    ...formatStays(drift.stays),
    ...(ignored === 0
      ? []
      : [`Differences of ${pluralize(ignored, 'item')} are ignored by drift.ignore.`]),
    ...(assumed === 0 || observed.length > 0 || unreadable > 0 || drift.isObserved === true
      ? []
      : ['None of these items was compared with the service: that takes --observed or --live.']),
  ]
}

/** Formats the age of assumed items, from the youngest to the oldest. */
function formatAges(items: DriftItem[], now: number): string {
  const times = items.flatMap(({ confidence, recordedAt }) =>
    confidence === 'assumed' && recordedAt !== null ? [Date.parse(recordedAt)] : [],
  )
  const [young, old] = [findMax(times), findMin(times)].map((time) => formatAge(now - time))
  return young === old ? `confirmed ${young} ago` : `confirmed ${young} to ${old} ago`
}

/** Formats a time span in its largest fitting unit. */
export function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60
    ? `${Math.floor(minutes / 60)} h`
    : `${Math.floor(minutes / (24 * 60))} d`
}

/** Lists items by domain, those of the same items together. */
function listItemNames(items: { domain: string; item: string }[]): string[] {
  return listByText(
    Array.from(
      groupBy(items, ({ domain }) => domain),
      ([domain, same]) => ({
        domain,
        what: same.map(({ item }) => item).join(', '),
      }),
    ),
  )
}

/** Lists items with an unreadable observed value: pointer, reason and domains. */
export function listUnreadable(items: DriftItem[]): string[] {
  return listByText(
    items.flatMap(({ domain, item, unreadable }) => {
      if (unreadable === undefined) return []
      const where = unreadable.pointer === '' ? '' : ` at ${unreadable.pointer}`
      return [{ domain, what: `${item}${where}: ${unreadable.reason}` }]
    }),
  )
}

/** Lists ignored differences: item, reason and domains. */
function listIgnored(items: DriftItem[]): string[] {
  return listByText(
    items.flatMap(({ domain, item, ignored }) =>
      ignored === undefined ? [] : [{ domain, what: `${item} (${ignored})` }],
    ),
  )
}

/** Lists fields that were not observed, each with the domains. */
function listNotVerifiable(items: DriftItem[]): string[] {
  return listByText(
    items.flatMap(({ domain, item, notVerifiable }) =>
      notVerifiable.map((pointer) => ({ domain, what: item + pointer.replaceAll('/', '.') })),
    ),
  )
}

/** Lists what is said of domains, each text once with its domains. */
function listByText(found: { domain: string; what: string }[]): string[] {
  return groupDomains(found, ({ what }) => what).map(
    ({ first, domains }) => `${escapeInvisible(first.what)}: ${listSome(domains, maxDomains)}`,
  )
}
