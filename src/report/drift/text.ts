import type { Drift, DriftItem } from '../../model/drift.ts'
import { groupBy } from '../../model/group-by.ts'
import { pluralize, listSome } from '../../model/words.ts'
import { summarizeDrift, hasDrift } from './json.ts'
import { groupChanges } from '../plan/blocks.ts'
import type { PlanTextOptions } from '../plan/format-block.ts'
import { formatBlocks } from '../plan/text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

const maxDomains = 12

/**
 * Formats drift as text: pending, on hold, live, unreadable, in-doubt and not verifiable items,
 * then the summary. Ends without a line break.
 *
 * @param now milliseconds since 1970, for the age of assumed items
 */
export function formatDrift(drift: Drift, now: number, options: PlanTextOptions): string {
  const { paint, columns } = options
  const section = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`${paint.bold(title)}\n\n${lines.join('\n\n')}`]
  const hidden = listNotVerifiable(drift.items)
  return [
    ...section(
      'Pending: the manifests differ from state',
      formatBlocks(groupChanges(drift.pending), options),
    ),
    ...section(
      'On hold: a rollout was stopped or rolled back; skipped until the manifests change ' +
        '(apply --retry-held)',
      listOnHold(drift.items).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'Live: the service differs from state',
      formatBlocks(groupChanges(drift.live), options),
    ),
    ...section(
      unreadableTitle,
      listUnreadable(drift.items).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      ignoredTitle,
      listIgnored(drift.items).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'In-doubt: an apply ended with an unknown outcome',
      listInDoubt(drift.inDoubt).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'Not verifiable: not observed or not comparable; assumed to be as recorded',
      hidden.map((line) => wrap(line, columns, '  ')),
    ),
    formatDriftSummary(drift, now)
      .map((line) => wrap(line, columns, ''))
      .join('\n'),
  ].join('\n\n')
}

/**
 * Formats the summary: differences, then the confidence of all items. Assumed items are never
 * called in sync.
 */
export function formatDriftSummary(drift: Drift, now: number): string[] {
  const { verified, assumed, pending, live, held, ignored, unanswered } = summarizeDrift(drift)
  const inDoubt = new Set(drift.inDoubt.map(({ domain, item }) => `${domain} ${item}`))
  const isInDoubt = ({ domain, item }: DriftItem) => inDoubt.has(`${domain} ${item}`)
  const isUnreadable = (each: DriftItem) => each.unreadable !== undefined
  const unreadable = drift.items.filter((each) => isUnreadable(each) && !isInDoubt(each)).length
  const neverApplied = ({ confidence, recordedAt }: DriftItem) =>
    // Unreadable items are counted separately.
    confidence === 'in-doubt' && recordedAt === null
  const unrecorded = drift.items.filter((each) => neverApplied(each) && !isUnreadable(each)).length
  const differing = [
    [pending - held, 'pending'],
    [held, 'on hold'],
    [live, 'live'],
    [drift.inDoubt.length, 'in-doubt'],
    [unanswered, unanswered === 1 ? 'domain not at the service' : 'domains not at the service'],
  ] as const
  const differences = differing.flatMap(([count, words]) =>
    count === 0 ? [] : [`${count} ${words}`],
  )
  const known = [
    ...(verified === 0 ? [] : [`${verified} verified`]),
    ...(assumed === 0 ? [] : [`${assumed} assumed (${formatAges(drift.items, now)})`]),
    ...(drift.inDoubt.length === 0 ? [] : [`${drift.inDoubt.length} in-doubt`]),
    ...(unreadable === 0 ? [] : [`${unreadable} unreadable`]),
    ...(unrecorded === 0 ? [] : [`${unrecorded} never applied`]),
  ]
  if (drift.items.length === 0) return ['No item is managed or recorded.']
  return [
    hasDrift(drift)
      ? 'Drift: ' +
        `${differences.length === 0 ? `${unrecorded} never applied` : differences.join(', ')}.`
      : 'No differences were found.',
    `Of ${pluralize(drift.items.length, 'item')}: ${known.join(', ')}.`,
    ...(ignored === 0
      ? []
      : [`Differences of ${pluralize(ignored, 'item')} are ignored by drift.ignore.`]),
    ...(assumed === 0 || verified > 0 || unreadable > 0
      ? []
      : ['None of these items was compared with the service: that takes --observed or --live.']),
  ]
}

/** Formats the age of assumed items, from the youngest to the oldest. */
function formatAges(items: DriftItem[], now: number): string {
  const times = items.flatMap(({ confidence, recordedAt }) =>
    confidence === 'assumed' && recordedAt !== null ? [Date.parse(recordedAt)] : [],
  )
  const [young, old] = [
    times.reduce((a, b) => Math.max(a, b), -Infinity),
    times.reduce((a, b) => Math.min(a, b), Infinity),
  ].map((time) => formatAge(now - time))
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

/** Lists items on hold, grouped by domains. */
export function listOnHold(items: DriftItem[]): string[] {
  return listItemNames(items.filter(({ held }) => held))
}

/** Lists in-doubt items, grouped by domains. */
export function listInDoubt(inDoubt: Drift['inDoubt']): string[] {
  return listItemNames(inDoubt)
}

function listItemNames(items: { domain: string; item: string }[]): string[] {
  return groupByText(groupBy(items, ({ domain }) => domain).entries(), (same) =>
    escapeInvisible(same.map(({ item }) => item).join(', ')),
  )
}

/** Title of the items with an unreadable observed value. */
export const unreadableTitle = 'Unreadable: the observed value is invalid or not comparable'

/** Lists items with an unreadable observed value: pointer, reason and domains. */
export function listUnreadable(items: DriftItem[]): string[] {
  const found = items.flatMap(({ domain, item, unreadable }) => {
    if (unreadable === undefined) return []
    const where = unreadable.pointer === '' ? '' : ` at ${unreadable.pointer}`
    return [{ domain, what: escapeInvisible(`${item}${where}: ${unreadable.reason}`) }]
  })
  const groups = groupBy(found, ({ what }) => what)
  const namesIn = (same: typeof found) =>
    listSome(
      same.map(({ domain }) => domain),
      maxDomains,
    )
  return [...groups].map(([what, same]) => `${what}: ${namesIn(same)}`)
}

/** Title of the ignored differences. */
export const ignoredTitle = 'Ignored: the service differs, and drift.ignore has a reason'

/** Lists ignored differences: item, reason and domains. */
export function listIgnored(items: DriftItem[]): string[] {
  const found = items.flatMap(({ domain, item, ignored }) =>
    ignored === undefined ? [] : [{ domain, what: escapeInvisible(`${item} (${ignored})`) }],
  )
  return [...groupBy(found, ({ what }) => what)].map(
    ([what, same]) =>
      `${what}: ${listSome(
        same.map(({ domain }) => domain),
        maxDomains,
      )}`,
  )
}

/** Lists fields that were not observed, each with the domains. */
export function listNotVerifiable(items: DriftItem[]): string[] {
  const fields = items.flatMap(({ domain, item, notVerifiable }) =>
    notVerifiable.map((pointer) => ({
      domain,
      field: escapeInvisible(`${item}${pointer.replaceAll('/', '.')}`),
    })),
  )
  return [...groupBy(fields, ({ field }) => field)].map(
    ([field, same]) =>
      `${field}: ${listSome(
        same.map(({ domain }) => domain),
        maxDomains,
      )}`,
  )
}

function groupByText<T>(
  entries: Iterable<[string, T[]]>,
  wordsOf: (same: T[]) => string,
): string[] {
  const groups = groupBy(entries, ([, same]) => wordsOf(same))
  return [...groups].map(
    ([words, same]) =>
      `${words}: ${listSome(
        same.map(([domain]) => domain),
        maxDomains,
      )}`,
  )
}
