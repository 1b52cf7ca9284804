import type { ApplyEvent, Doubt } from '../../../core/model/events.ts'
import { groupBy } from '../../../core/model/lists.ts'
import type { OutcomeCounts } from '../../../core/model/outcome.ts'
import { formatCount, listCounts, pluralize } from '../../../core/model/text/words.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/**
 * Formats in-doubt writes with all domains and items: somebody has to look at each of them. Those
 * of the same items with the same reason share a line.
 */
export function formatDoubts(doubts: Doubt[]): string[] {
  const groups = groupBy(doubts, ({ items, message }) => `${items.join(', ')}\n${message}`)
  return Array.from(groups.values(), (same) => {
    const [{ items, message }] = same
    const domains = new Set(same.flatMap((each) => each.domains))
    return escapeInvisible(`${items.join(', ')} of ${[...domains].join(', ')}: ${message}`)
  })
}

/**
 * Formats the error for outcomes that are not recorded, or that other machines do not see.
 *
 * @param unshared they are recorded in this clone
 */
export function formatUnrecorded(reason: string, unshared: boolean): string {
  const why = escapeInvisible(reason)
  return unshared
    ? `the outcomes are recorded in this clone, but not shared: ${why}; the next command here ` +
        'that takes the lock shares them'
    : `some outcomes could not be recorded: ${why}`
}

/** Last event of an apply. */
export type FinishedEvent = Omit<Extract<ApplyEvent, { type: 'apply.finished' }>, 'time' | 'apply'>

/**
 * Formats the outcome of an apply: `Applied; writes: 4 confirmed.`
 *
 * @param command command that sends the rest of an interrupted apply
 */
export function formatFinished(
  event: FinishedEvent,
  status: FinishedStatus,
  paint: Paint,
  command = 'edgewise apply',
): string {
  const headline = formatHeadline(event, status, paint)
  if (isInterrupted(event)) {
    const next = event.interrupted === 'writes' ? 'sends the rest' : 'resumes the rollout'
    return `${headline.slice(0, -1)}; "${command}" ${next}.`
  }
  const isExpected = event.takenBack !== undefined || isWaiting(status)
  if (isExpected) return `${headline} ${escapeInvisible(event.stopped ?? '')}.`
  const stopped = event.stopped === null ? '' : ` Stopped: ${escapeInvisible(event.stopped)}.`
  return `${headline}${stopped}`
}

/** Returns whether an interrupt ended an apply, unless it rolls back. */
export function isInterrupted({ interrupted, takenBack }: FinishedEvent): boolean {
  return takenBack === undefined && interrupted !== undefined
}

function formatInterrupted(event: FinishedEvent, paint: Paint): string {
  const { confirmed, refused, inDoubt, notSent, unchanged = 0 } = event
  const counts = formatOutcomes({ confirmed: 0, refused, inDoubt, notSent }, 'never sent')
  const total = pluralize(confirmed + refused + inDoubt + notSent, 'write')
  return [
    `${paint.bold(paint.yellow('Interrupted'))}: ${formatCount(confirmed)} of ${total} confirmed`,
    ...(counts === '' ? [] : [counts]),
    ...listCounts([[unchanged, 'unchanged']]),
  ]
    .join(', ')
    .concat('.')
}

/** Formats the outcome of an apply without the reason of an early end. */
export function formatHeadline(event: FinishedEvent, status: FinishedStatus, paint: Paint): string {
  if (isInterrupted(event)) return formatInterrupted(event, paint)
  const counts = formatCounts(event, event.parts)
  const { unchanged = 0 } = event
  const all = [
    ...(counts === '' ? [] : [`writes: ${counts}`]),
    ...listCounts([[unchanged, 'write unchanged, not sent', 'writes unchanged, not sent']]),
  ]
  const writes = all.length === 0 ? 'no write was needed' : all.join('; ')
  const whole = event.refused + event.inDoubt + event.notSent + event.parts.notSent === 0
  if (event.takenBack !== undefined) {
    const result = event.takenBack
      ? paint.yellow('Rolled back')
      : paint.red('Not everything was rolled back')
    return `${paint.bold(result)}; ${writes}.`
  }
  if (isWaiting(status)) return `${paint.bold(paint.yellow(waitingResults[status]))}; ${writes}.`
  const result = whole ? wholeResults[status] : 'Not everything was applied'
  return `${paint.bold(result)}; ${writes}.`
}

/** Status of an apply, for its last line. */
export type FinishedStatus =
  | 'done'
  /** State lacks outcomes. */
  | 'unrecorded'
  /** Other machines do not see outcomes. */
  | 'unshared'
  | 'incomplete'
  /** All is confirmed, but reads back otherwise, or could not be read back. */
  | 'unverified'
  | WaitingStatus

/** A rollout waits for an approval, is paused, or ended at a pause or a health check. */
type WaitingStatus = 'approval' | 'paused' | 'pausing'

const waitingResults: Record<WaitingStatus, string> = {
  approval: 'Waiting for approval',
  paused: 'Paused',
  pausing: 'The rollout resumes later',
}

/** Returns whether an apply ended as expected while its rollout is open. */
export function isWaiting(status: string): status is WaitingStatus {
  return Object.hasOwn(waitingResults, status)
}

/** Results of an apply whose writes are all confirmed. */
const wholeResults = {
  done: 'Applied',
  unrecorded: 'Not everything was recorded',
  unshared: 'Applied, but not shared',
  incomplete: 'The rollout is not complete',
  unverified: 'Applied, but not read back as sent',
}

/**
 * Formats the counts of writes, and those of their parts if something was not confirmed and they
 * differ: `1 refused (items of domains: 2 confirmed, 1 refused)`.
 */
export function formatCounts(
  writes: OutcomeCounts,
  parts: OutcomeCounts | undefined,
  notSent = 'not sent',
): string {
  const text = formatOutcomes(writes, notSent)
  const ofParts = parts === undefined ? text : formatOutcomes(parts, notSent)
  const isPartial = parts !== undefined && parts.notSent > 0
  const complete = !isPartial && writes.refused + writes.inDoubt + writes.notSent === 0
  return complete || ofParts === text ? text : `${text} (items of domains: ${ofParts})`
}

/** Formats the counts that are not zero: `4 confirmed`, `1 refused`, … */
function formatOutcomes(
  { confirmed, refused, inDoubt, notSent }: OutcomeCounts,
  notSentWord: string,
): string {
  return listCounts([
    [confirmed, 'confirmed'],
    [refused, 'refused'],
    [inDoubt, 'in-doubt'],
    [notSent, notSentWord],
  ]).join(', ')
}
