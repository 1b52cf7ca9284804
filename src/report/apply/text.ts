import type { OutcomeCounts } from '../../model/outcome.ts'
import { pluralize } from '../../model/words.ts'
import type { Paint } from '../text/paint.ts'
import { formatRolloutEvent, type RolloutEvent } from './rollout-text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Events of an apply that are printed as text. */
export type PrintedEvent =
  | { type: 'apply.started'; apply: string; writes: number; releases: number }
  | { type: 'write.started'; id: number; domains: string[]; items: string[] }
  | { type: 'write.confirmed'; id: number; rewritten?: string[] }
  | { type: 'write.refused'; id: number; message: string }
  | { type: 'write.not-sent'; id: number; message: string; reason?: 'unchanged' }
  | { type: 'write.in-doubt'; id: number; domains: string[]; items: string[]; message: string }
  | { type: 'write.waiting'; id: number; seconds: number; message: string }
  | { type: 'write.isolating'; id: number; domains: string[]; items: string[] }
  | { type: 'part.confirmed'; id: number; domains: string[]; items: string[] }
  | { type: 'part.refused'; id: number; domains: string[]; items: string[]; message: string }
  | { type: 'wave.finished'; wave: number }
  | RolloutEvent
  | ({
      type: 'apply.finished'
      takenBack?: boolean
      stopped: string | null
      parts: OutcomeCounts
      unchanged?: number
    } & OutcomeCounts)

/** Formats an event as a plain line for logs, or null for an event without a line. */
export function formatEvent(event: PrintedEvent, total: number, paint: Paint): string | null {
  switch (event.type) {
    case 'write.confirmed': {
      const note =
        event.rewritten === undefined
          ? ''
          : `; the service rewrote ${escapeInvisible(event.rewritten.join(', '))}`
      return `${paint.green('confirmed')}  write ${event.id} of ${total}${note}`
    }
    case 'write.refused':
      return (
        `${paint.red('refused')}    write ${event.id} of ${total}: ` +
        escapeInvisible(event.message)
      )
    case 'write.in-doubt':
      return (
        `${paint.yellow('in-doubt')}   write ${event.id} of ${total}, ${formatPart(event)}: ` +
        escapeInvisible(event.message)
      )
    case 'write.not-sent':
      if (event.reason === 'unchanged')
        return `${paint.dim('unchanged, not sent')}  write ${event.id} of ${total}`
      return (
        `${paint.dim('not sent')}   write ${event.id} of ${total}: ` +
        escapeInvisible(event.message)
      )
    case 'write.waiting':
      return (
        `waiting ${event.seconds} s before write ${event.id} and maybe others: ` +
        escapeInvisible(event.message)
      )
    case 'write.isolating':
      return `bisecting  write ${event.id} of ${total}: ${formatPart(event)}`
    case 'part.confirmed':
      return `${paint.green('confirmed')}  part of write ${event.id}: ${formatPart(event)}`
    case 'part.refused':
      return (
        `${paint.red('refused')}    part of write ${event.id}: ${formatPart(event)}: ` +
        escapeInvisible(event.message)
      )
    case 'wave.waiting':
    case 'wave.watched':
    case 'wave.judged':
    case 'rollout.taking-back':
    case 'rollout.waiting-for-approval':
      return formatRolloutEvent(event, paint)
    default:
      return null
  }
}

function formatPart({ domains, items }: { domains: string[]; items: string[] }): string {
  const where = domains.length === 1 ? domains[0] : `${domains.length} domains`
  return escapeInvisible(`${items.join(', ')} on ${where}`)
}

/** In-doubt write, or the in-doubt rest of a bisected one. */
export type Doubt = Extract<PrintedEvent, { type: 'write.in-doubt' }>

const maxDoubts = 12

/** Formats in-doubt writes with all domains and items: one line each, then the rest's number. */
export function formatDoubts(doubts: Omit<Doubt, 'type'>[]): string[] {
  const rest = doubts.length - maxDoubts
  return [
    ...doubts
      .slice(0, maxDoubts)
      .map(({ domains, items, message }) =>
        escapeInvisible(`${items.join(', ')} of ${domains.join(', ')}: ${message}`),
      ),
    ...(rest > 0 ? [`… and ${rest} more; "edgewise state list" counts the in-doubt items`] : []),
  ]
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

type FinishedEvent = Extract<PrintedEvent, { type: 'apply.finished' }>

/** Formats the outcome of an apply: `Applied; writes: 4 confirmed.` */
export function formatFinished(event: FinishedEvent, status: FinishedStatus, paint: Paint): string {
  const headline = formatHeadline(event, status, paint)
  const isExpected = event.takenBack !== undefined || status === 'approval' || status === 'paused'
  if (isExpected) return `${headline} ${escapeInvisible(event.stopped ?? '')}.`
  const stopped = event.stopped === null ? '' : ` Stopped: ${escapeInvisible(event.stopped)}.`
  return `${headline}${stopped}`
}

/** Formats the outcome of an apply without the reason of an early end. */
export function formatHeadline(event: FinishedEvent, status: FinishedStatus, paint: Paint): string {
  const counts = formatCounts(event, event.parts)
  const { unchanged = 0 } = event
  const all = [
    ...(counts === '' ? [] : [`writes: ${counts}`]),
    ...(unchanged === 0 ? [] : [`${pluralize(unchanged, 'write')} unchanged, not sent`]),
  ]
  const writes = all.length === 0 ? 'no write was needed' : all.join('; ')
  const whole = event.refused + event.inDoubt + event.notSent === 0
  if (event.takenBack !== undefined) {
    const result = event.takenBack
      ? paint.yellow('Rolled back')
      : paint.red('Not everything was rolled back')
    return `${paint.bold(result)}; ${writes}.`
  }
  if (status === 'approval' || status === 'paused') {
    const result = paint.yellow(status === 'paused' ? 'Paused' : 'Waiting for approval')
    return `${paint.bold(result)}; ${writes}.`
  }
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
  /** A rollout waits for an approval, or is paused. */
  | 'approval'
  | 'paused'

/** Results of an apply whose writes are all confirmed. */
const wholeResults = {
  done: 'Applied',
  unrecorded: 'Not everything was recorded',
  unshared: 'Applied, but not shared',
  incomplete: 'The rollout is not complete',
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
  const complete = writes.refused + writes.inDoubt + writes.notSent === 0
  return complete || ofParts === text ? text : `${text} (items of domains: ${ofParts})`
}

/** Formats the counts that are not zero: `4 confirmed`, `1 refused`, … */
function formatOutcomes(
  { confirmed, refused, inDoubt, notSent }: OutcomeCounts,
  notSentWord: string,
): string {
  const counts: [number, string][] = [
    [confirmed, 'confirmed'],
    [refused, 'refused'],
    [inDoubt, 'in-doubt'],
    [notSent, notSentWord],
  ]
  return counts.flatMap(([count, outcome]) => (count > 0 ? [`${count} ${outcome}`] : [])).join(', ')
}
