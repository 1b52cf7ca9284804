import type { Drift, DriftItem } from '../../model/drift.ts'
import { groupBy } from '../../model/group-by.ts'
import { pluralize, listSome } from '../../model/words.ts'
import { summarizeDrift, hasDrift } from './json.ts'
import { groupChanges, formatBlock, type PlanTextOptions } from '../plan/text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

const maxDomains = 12

/**
 * Drift as people read it: what was merged and not applied, what the service holds otherwise than
 * recorded, what is in doubt, and how well the rest is known. Ends without a line break.
 *
 * @param now milliseconds since 1970, for the age of what is assumed
 */
export function formatDrift(drift: Drift, now: number, options: PlanTextOptions): string {
  const { paint, columns } = options
  const section = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`${paint.bold(title)}\n\n${lines.join('\n\n')}`]
  const hidden = listNotVerified(drift.items)
  return [
    ...section(
      'Pending: the manifests say otherwise than what was applied',
      groupChanges(drift.pending).map((block) => formatBlock(block, options)),
    ),
    ...section(
      'Held: a rollout with this was stopped or taken back, so it is not applied any more (apply --retry-held)',
      listOnHold(drift.items).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'Live: the service holds otherwise than what was applied',
      groupChanges(drift.live).map((block) => formatBlock(block, options)),
    ),
    ...section(
      unreadableTitle,
      listUnreadable(drift.items).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'In doubt: an apply ended without a certain outcome',
      listInDoubt(drift.inDoubt).map((line) => wrap(line, columns, '  ')),
    ),
    ...section(
      'Not verifiable: not shown, or not comparable, so they count as recorded',
      hidden.map((line) => wrap(line, columns, '  ')),
    ),
    formatDriftSummary(drift, now)
      .map((line) => wrap(line, columns, ''))
      .join('\n'),
  ].join('\n\n')
}

/**
 * The last sentences: what differs, and how well everything is known. What is only assumed is never
 * called in order.
 */
export function formatDriftSummary(drift: Drift, now: number): string[] {
  const { verified, assumed, pending, live, held } = summarizeDrift(drift)
  const inDoubt = new Set(drift.inDoubt.map(({ domain, item }) => `${domain} ${item}`))
  const isInDoubt = ({ domain, item }: DriftItem) => inDoubt.has(`${domain} ${item}`)
  const isUnreadable = (each: DriftItem) => each.unreadable !== undefined
  const unreadable = drift.items.filter((each) => isUnreadable(each) && !isInDoubt(each)).length
  const neverApplied = ({ confidence, recordedAt }: DriftItem) =>
    // What is unreadable is counted as that.
    confidence === 'in-doubt' && recordedAt === null
  const unrecorded = drift.items.filter((each) => neverApplied(each) && !isUnreadable(each)).length
  const differing = [
    [pending - held, 'pending'],
    [held, 'held'],
    [live, 'live'],
    [drift.inDoubt.length, 'in doubt'],
  ] as const
  const told = differing.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]))
  const known = [
    ...(verified === 0 ? [] : [`${verified} verified`]),
    ...(assumed === 0 ? [] : [`${assumed} assumed (${agesOf(drift.items, now)})`]),
    ...(drift.inDoubt.length === 0 ? [] : [`${drift.inDoubt.length} in doubt`]),
    ...(unreadable === 0 ? [] : [`${unreadable} unreadable`]),
    ...(unrecorded === 0 ? [] : [`${unrecorded} never applied`]),
  ]
  if (drift.items.length === 0) return ['No item is managed or recorded.']
  return [
    hasDrift(drift)
      ? `Drift: ${told.length === 0 ? `${unrecorded} never applied` : told.join(', ')}.`
      : 'No differences were found.',
    `Of ${pluralize(drift.items.length, 'item')}: ${known.join(', ')}.`,
    ...(assumed === 0 || verified > 0 || unreadable > 0
      ? []
      : [
          'Nothing was observed, so whether the service still holds what was applied is not known (--observed).',
        ]),
  ]
}

/** When what is assumed was confirmed: from the youngest to the oldest. */
function agesOf(items: DriftItem[], now: number): string {
  const times = items.flatMap(({ confidence, recordedAt }) =>
    confidence === 'assumed' && recordedAt !== null ? [Date.parse(recordedAt)] : [],
  )
  const [young, old] = [
    times.reduce((a, b) => Math.max(a, b), -Infinity),
    times.reduce((a, b) => Math.min(a, b), Infinity),
  ].map((time) => age(now - time))
  return young === old ? `confirmed ${young} ago` : `confirmed ${young} to ${old} ago`
}

/** A time span in its largest fitting unit. */
function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60
    ? `${Math.floor(minutes / 60)} h`
    : `${Math.floor(minutes / (24 * 60))} d`
}

/** Items that are held, with the domains that share them. */
export function listOnHold(items: DriftItem[]): string[] {
  return namesOf(items.filter(({ held }) => held))
}

/** Items in doubt, with the domains that share them. */
export function listInDoubt(inDoubt: Drift['inDoubt']): string[] {
  return namesOf(inDoubt)
}

function namesOf(items: { domain: string; item: string }[]): string[] {
  return byNames(groupBy(items, ({ domain }) => domain).entries(), (same) =>
    same.map(({ item }) => item).join(', '),
  )
}

/** Title of the items whose observed value can't be read. */
export const unreadableTitle = 'Unreadable: observed, and not a valid value or not comparable'

/** Lists items whose observed value can't be read, each with where, why and the domains. */
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

/** Fields that were not shown, each with the domains. */
export function listNotVerified(items: DriftItem[]): string[] {
  const fields = items.flatMap(({ domain, item, notVerified }) =>
    notVerified.map((pointer) => ({ domain, field: `${item}${pointer.replaceAll('/', '.')}` })),
  )
  return [...groupBy(fields, ({ field }) => field)].map(
    ([field, same]) =>
      `${field}: ${listSome(
        same.map(({ domain }) => domain),
        maxDomains,
      )}`,
  )
}

function byNames<T>(entries: Iterable<[string, T[]]>, wordsOf: (same: T[]) => string): string[] {
  const groups = groupBy(entries, ([, same]) => wordsOf(same))
  return [...groups].map(
    ([words, same]) =>
      `${words}: ${listSome(
        same.map(([domain]) => domain),
        maxDomains,
      )}`,
  )
}
