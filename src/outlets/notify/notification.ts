import { plainPaint } from '../report/text/paint.ts'
import { describeDecided } from '../report/apply/rollouts-text.ts'
import { formatHeadline, isInterrupted, type FinishedStatus } from '../report/apply/text.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { NotifyEvent } from '../../core/model/config.ts'
import { nameOverride, type Override } from '../../core/model/applied.ts'
import type { Drift } from '../../core/model/drift.ts'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import { errorDescriptions } from '../../core/model/generated/errors.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Part } from '../../core/model/item.ts'
import { describeStop, type Decided, type StopDecision } from '../../core/model/listed-rollout.ts'

/** What a receiver gets. */
export interface Message {
  body: string
  headers: Record<string, string>
}

/** Report of a command to receivers, without values of items, which may be secret. */
export interface Notification {
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
  /** Parts that are not as they should be. */
  parts: ({ event: NotifyEvent } & Part)[]
  /** The next step; null if there is none. */
  next: string | null
  /** Hash of the newest entry of the chained history; absent for none. */
  history?: string
}

/** Facts of an apply, a rollback or a repair. */
export interface ApplyFacts {
  finished: Extract<ApplyEvent, { type: 'apply.finished' }>
  status: FinishedStatus
  inWaves: boolean
  refusals: Part[]
  doubts: Part[]
  /** What was overridden; absent for none. */
  overrides?: Override[]
}

/** Content of a notification. */
export type Content = Pick<
  Notification,
  'events' | 'title' | 'apply' | 'parts' | 'next' | 'history'
>

/** Describes what an apply has done; null if it sent nothing. */
export function describeApply(facts: ApplyFacts): Content | null {
  const { finished, status, inWaves, refusals, doubts, overrides = [] } = facts
  const { refused, inDoubt, confirmed } = finished
  if (status === 'pausing') return null
  const isApplied = status === 'done' || status === 'unverified'
  const waits = status === 'approval' || status === 'paused'
  const events: NotifyEvent[] = [
    ...(isApplied && confirmed > 0 ? ['applied' as const] : []),
    ...(refused > 0 ? ['refused' as const] : []),
    ...(inDoubt > 0 || status === 'unrecorded' ? ['in-doubt' as const] : []),
    ...(isUnsent(facts) ? ['failed' as const] : []),
    ...(inWaves && !waits && finished.open !== true ? ['rollout' as const] : []),
    ...(waits ? ['approval' as const] : []),
  ]
  if (events.length === 0) return null
  return {
    events,
    title: [formatHeadline(finished, status, plainPaint), ...overrides.map(describeOverride)].join(
      ' ',
    ),
    apply: finished.apply,
    parts: [
      ...refusals.map(({ domains, items }) => ({ event: 'refused' as const, domains, items })),
      ...doubts.map(({ domains, items }) => ({ event: 'in-doubt' as const, domains, items })),
    ],
    next: waits ? 'edgewise rollout list' : null,
    ...(finished.history === undefined ? {} : { history: finished.history }),
  }
}

function describeOverride(override: Override): string {
  const name = nameOverride(override)
  const why = override.reason === '' ? '' : `: ${override.reason}`
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} was overridden${why}.`
}

/** Tests whether an apply left writes unsent, and no other event or interrupt explains it. */
function isUnsent({ finished, status, inWaves }: ApplyFacts): boolean {
  const isRefused = finished.refused + finished.inDoubt > 0
  const isEnded = inWaves && finished.open !== true
  return status === 'incomplete' && !isRefused && !isEnded && !isInterrupted(finished)
}

/** Describes an apply whose process ended before it reported anything. */
export function describeLost(begun: string, who: string): Content {
  return {
    events: ['in-doubt', 'rollout'],
    title:
      `An apply that began at ${begun} by ${who} ended without reporting its outcome; ` +
      'see edgewise state history.',
    apply: null,
    parts: [],
    next: 'edgewise state history',
  }
}

/** Describes that all writes of the account are stopped or resumed; null if nothing has changed. */
export function describeStopDecision({ decision, stop }: StopDecision): Content | null {
  if (decision !== 'stopped' && decision !== 'resumed') return null
  const what = stop === null ? '' : describeStop(stop)
  return {
    events: ['rollout'],
    title: decision === 'stopped' ? `Stopped: ${what}.` : `Resumed; before, ${what}.`,
    ...nothingLeft,
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
    next: 'edgewise rollout list',
    ...(history === undefined ? {} : { history }),
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

/** Describes that a commit is not applied; the reason may quote values of items. */
export function describeInvalid(commit: string): Content {
  return {
    events: ['failed'],
    title:
      `Commit ${commit.slice(0, 12)} is not applied: it is invalid or too large to plan. ` +
      'The log and the page of edgewise serve have the reason.',
    ...nothingLeft,
    next: 'edgewise validate',
  }
}

/** Errors after which nobody is notified: somebody declined, or mistyped. */
const ownErrors: FailureCode[] = ['declined', 'usage']
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
export function describeNotApplied(what: string, code: FailureCode): Content | null {
  return passingErrors.includes(code) ? null : describeError(what, code)
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

const nothingLeft = { apply: null, parts: [], next: null }

/** Lists the items that differ or are in-doubt. */
export function listDiffering({ items }: Drift): Drift['items'] {
  return items.filter(({ kinds, confidence }) => kinds.length > 0 || confidence === 'in-doubt')
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
  const names = [...new Set(differing.map(({ item }) => item))]
  const parts = [
    { event: 'drift' as const, domains: differingDomains, items: names },
    { event: 'drift' as const, domains: unanswered, items: [] },
  ]
  return {
    events: ['drift'],
    title: `Drift: ${what.join(', ')}.`,
    apply: null,
    parts: parts.filter(({ domains: named }) => named.length > 0),
    next: 'edgewise drift',
  }
}
