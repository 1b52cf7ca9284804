import { plainPaint } from '../report/text/paint.ts'
import { describeDecided } from '../report/apply/rollouts-text.ts'
import { formatHeadline, isInterrupted, isWaiting } from '../report/apply/text.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { NotifyEvent } from '../../core/model/config.ts'
import { nameAuthor, nameOverride, type Override } from '../../core/model/applied.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { pickTree, type SourceTree } from '../../core/model/source-tree.ts'
import { findStatus, type Executed } from '../../operations/submission/executed.ts'
import { isDrifted, type Drift } from '../../core/model/drift.ts'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import { errorDescriptions } from '../../core/model/generated/errors.ts'
import type { Domain, Part } from '../../core/model/item.ts'
import { groupDomains } from '../../core/model/lists.ts'
import { describeStop, type Decided, type StopDecision } from '../../core/model/listed-rollout.ts'

/** What a receiver gets. */
export interface Message {
  body: string
  headers: Record<string, string>
}

/**
 * Report of a command to receivers, without values of items, which may be secret. Texts of others
 * have no secrets any more, and are escaped for each receiver.
 */
export interface Notification extends SourceTree {
  /** The same for each attempt to send it. */
  id: string
  /** ISO 8601. */
  time: string
  workspace: string
  account: string
  /** Events that occurred. */
  events: NotifyEvent[]
  /** One sentence. */
  title: string
  /** Id of the apply; null for drift. */
  apply: string | null
  /** Who did it; null where nobody did, or that is not known. */
  by: string | null
  /** Wave that it is about; null without one. */
  wave: { rollout: string; number: number; waves: number; domains: Domain[] } | null
  /** Why it ended so; null for nothing to add. */
  reason: string | null
  /** Parts that are not as they should be, with the text of the service if it refused one. */
  parts: ({ event: NotifyEvent; text?: string } & Part)[]
  /** The next step; null if there is none. */
  next: string | null
  /** Page with more; absent without `serve.url`. */
  url?: string | undefined
  /** Hash of the newest entry of the chained history; absent for none. */
  history?: string | undefined
}

/** Content of a notification. */
export type Content = Omit<Notification, 'id' | 'time' | 'workspace' | 'account' | 'url'>

/** Describes what an apply has done; null if it sent nothing, or a rollout only waits. */
export function describeApply(executed: Executed): Content | null {
  const { finished, inWaves, result, doubts, overrides = [], plan } = executed
  const status = findStatus(executed)
  if (finished === undefined || isWaiting(status)) return null
  const { apply, refused, inDoubt, stopped, history } = finished
  const { rollout, total = finished.confirmed } = result
  const isApplied = status === 'done' || status === 'unverified'
  const isEnded = inWaves && finished.open !== true
  const isExplained = refused + inDoubt > 0 || isEnded || isInterrupted(finished)
  const found: [NotifyEvent, boolean][] = [
    ['applied', isApplied && total > 0],
    ['refused', refused > 0],
    ['in-doubt', inDoubt > 0 || status === 'unrecorded'],
    ['failed', status === 'incomplete' && !isExplained],
    ['rollout', isEnded],
  ]
  const events = found.flatMap(([event, occurred]) => (occurred ? [event] : []))
  if (events.length === 0) return null
  const headline = formatHeadline({ ...finished, confirmed: total }, status, plainPaint)
  return {
    events,
    title: [headline, ...overrides.map(describeOverride)].join(' '),
    apply,
    by: nameAuthor({ by: executed.by }),
    ...pickTree(plan.basis),
    wave: rollout === undefined ? null : describeWave(rollout),
    reason: stopped,
    parts: [
      ...result.refusals.map((part) => ({ ...mark('refused', part), text: part.message })),
      ...doubts.map((part) => mark('in-doubt', part)),
    ],
    next: isApplied
      ? null
      : rollout?.unhealthy
        ? `edgewise rollback ${rollout.id}`
        : 'edgewise plan',
    history,
  }
}

/** Describes that a rollout waits for an approval of its current wave. */
export function describeWait(rollout: Rollout): Content {
  const about = describeRollout(rollout)
  return {
    ...nothingLeft,
    ...about,
    events: ['approval'],
    title: `Wave ${about.wave.number} of ${about.wave.waves} waits for approval.`,
    by: rollout.author,
    next: `edgewise rollout approve ${rollout.id}`,
  }
}

function describeRollout(rollout: Rollout) {
  return { ...pickTree(rollout), wave: describeWave(rollout) }
}

function describeWave(rollout: Rollout): NonNullable<Notification['wave']> {
  const { id, waves } = rollout
  const index = findCurrentWave(rollout) ?? waves.length - 1
  const { domains = [] } = waves[index] ?? {}
  return { rollout: id, number: index + 1, waves: waves.length, domains }
}

function mark(event: NotifyEvent, { domains, items }: Part) {
  return { event, domains, items }
}

function describeOverride(override: Override): string {
  const name = nameOverride(override)
  const why = override.reason === '' ? '' : `: ${override.reason}`
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} was overridden${why}.`
}

/** Describes an apply whose process ended before it reported anything. */
export function describeLost(begun: string, who: string): Content {
  return {
    ...nothingLeft,
    events: ['in-doubt', 'rollout'],
    by: who,
    title:
      `An apply that began at ${begun} by ${who} ended without reporting its outcome; ` +
      'see edgewise state history.',
    next: 'edgewise state history',
  }
}

/** Describes that all writes of the account are stopped or resumed; null if nothing has changed. */
export function describeStopDecision({ decision, stop }: StopDecision, by: string): Content | null {
  if (decision !== 'stopped' && decision !== 'resumed') return null
  const what = stop === null ? '' : describeStop(stop)
  return {
    events: ['rollout'],
    title: decision === 'stopped' ? `Stopped: ${what}.` : `Resumed; before, ${what}.`,
    ...nothingLeft,
    by,
    next: 'edgewise rollout list',
  }
}

/** Describes who has decided what about a rollout; null for what was decided before. */
export function describeDecision(decided: Decided): Content | null {
  const { verb, by, history } = decided
  if (verb.startsWith('already-')) return null
  return {
    events: ['approval'],
    title: `${describeDecided(decided)} Decided by ${by.author}.`,
    ...nothingLeft,
    ...describeRollout(decided.rollout),
    by: by.author,
    next: 'edgewise rollout list',
    history,
  }
}

/** Describes that a person removed the lock of a process, and why. */
export function describeUnlock(holder: string, by: string, reason: string): Content {
  const why = reason.trim() === '' ? '' : `: ${reason}`
  return {
    events: ['rollout'],
    title: `The lock of ${holder} was removed by ${by}${why}.`,
    ...nothingLeft,
    next: 'edgewise state history',
  }
}

/** Errors after which nobody is notified: somebody declined, mistyped, or may not do it. */
const ownErrors: FailureCode[] = ['declined', 'usage', 'not-allowed']
/** Errors that a controller repeats until they are over. */
const passingErrors: FailureCode[] = [
  'declined',
  'locked',
  'record-moved',
  'record-unreachable',
  'stopped',
]
export type FailureCode = ErrorCode | 'defect'

export function findFailureCode(error: unknown): FailureCode {
  return error instanceof EdgewiseError ? error.code : 'defect'
}

/** Describes that a command applied nothing; null if nobody is to be notified of the error. */
export function describeFailed(code: FailureCode): Content | null {
  if (ownErrors.includes(code)) return null
  return describeError(code === 'defect' ? 'The command failed' : 'Nothing was applied', code)
}

/** Describes what `edgewise serve` does not carry on with; null if it soon will. */
export function describeNotApplied(
  what: string,
  code: FailureCode,
  commit: string | null = null,
): Content | null {
  return passingErrors.includes(code) ? null : { ...describeError(what, code), commit }
}

/** The message of an error may quote values of items: that of its code does not. */
function describeError(what: string, code: FailureCode): Content {
  const happened = code === 'defect' ? 'an internal error occurred.' : errorDescriptions[code]
  const next = code === 'invalid' ? 'edgewise validate' : 'edgewise plan'
  return { events: ['failed'], title: `${what} (${code}): ${happened}`, ...nothingLeft, next }
}

/**
 * Describes that no drift was found any more, after so much of it.
 *
 * @param unread domains that were not observed: drift is not gone of them
 */
export function describeGone({ items, domains }: DriftExtent, unread = 0): Content {
  const what = pluralizeDrift(items, domains)
  const title =
    unread === 0
      ? `Drift is gone: it was ${what}.`
      : 'No drift was found in what was observed, without ' +
        `${pluralize(unread, 'domain')}; it was ${what}.`
  return { events: ['drift'], title, ...nothingLeft }
}

/** Content of which nothing more is known. */
export const nothingLeft = {
  apply: null,
  by: null,
  commit: null,
  wave: null,
  reason: null,
  parts: [],
  next: null,
}

/** Lists the items that differ or are in-doubt; what is on hold was reported with its rollout. */
export function listDiffering({ items }: Drift): Drift['items'] {
  return items.filter((each) => isDrifted(each) && (!each.held || each.kinds.includes('live')))
}

/** Number of the items that differ, and of all domains with drift. */
export interface DriftExtent {
  items: number
  domains: number
}

/** Measures drift. A domain that the service does not have is drift without an item. */
export function measureDrift(drift: Drift): DriftExtent {
  const differing = listDiffering(drift)
  const names = [...differing.map(({ domain }) => domain), ...(drift.unanswered ?? [])]
  return { items: differing.length, domains: new Set(names).size }
}

function pluralizeDrift(items: number, domains: number): string {
  const domainCount = pluralize(domains, 'domain')
  return items === 0 ? domainCount : `${pluralize(items, 'item')} of ${domainCount}`
}

/** Describes drift; null if there is none. */
export function describeDrift(drift: Drift): Content | null {
  const { items, domains } = measureDrift(drift)
  if (domains === 0) return null
  const differing = listDiffering(drift)
  const differingDomains = [...new Set(differing.map(({ domain }) => domain))]
  const { unanswered = [] } = drift
  const missing = `${pluralize(unanswered.length, 'domain')} not at the service`
  const what = [
    ...(items === 0 ? [] : [pluralizeDrift(items, differingDomains.length)]),
    ...(unanswered.length === 0 ? [] : [missing]),
  ]
  const parts = [
    ...groupDomains(differing, ({ item }) => item).map((own) => ({
      event: 'drift' as const,
      domains: own.domains,
      items: [own.first.item],
    })),
    { event: 'drift' as const, domains: unanswered, items: [] },
  ]
  return {
    ...nothingLeft,
    events: ['drift'],
    title: `Drift: ${what.join(', ')}.`,
    parts: parts.filter(({ domains: named }) => named.length > 0),
    next: 'edgewise drift',
  }
}
