import type { OutcomeCounts } from '../../model/outcome.ts'
import type { Paint } from '../text/paint.ts'
import { formatRolloutEvent, type RolloutEvent } from './rollout-text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** The part of an apply's events that is told in words. */
export type PrintedEvent =
  | { type: 'apply.started'; apply: string; writes: number; releases: number }
  | { type: 'write.started'; id: number; domains: string[]; items: string[] }
  | { type: 'write.confirmed'; id: number; rewritten?: string[] }
  | { type: 'write.refused' | 'write.in-doubt' | 'write.not-sent'; id: number; message: string }
  | { type: 'write.waiting'; id: number; seconds: number; message: string }
  | { type: 'write.isolating'; id: number; domains: string[]; items: string[] }
  | { type: 'wave.finished'; wave: number }
  | RolloutEvent
  | ({ type: 'apply.finished'; takenBack?: boolean; stopped: string | null } & OutcomeCounts)

/** An event as a plain line for logs, or null for one that needs no line. */
export function formatEvent(event: PrintedEvent, total: number, paint: Paint): string | null {
  switch (event.type) {
    case 'write.confirmed': {
      const note =
        event.rewritten === undefined ? '' : `; the service rewrote ${event.rewritten.join(', ')}`
      return `${paint.green('confirmed')}  write ${event.id} of ${total}${note}`
    }
    case 'write.refused':
      return `${paint.red('refused')}    write ${event.id} of ${total}: ${escapeInvisible(event.message)}`
    case 'write.in-doubt':
      return `${paint.yellow('in doubt')}   write ${event.id} of ${total}: ${escapeInvisible(event.message)}`
    case 'write.not-sent':
      return `${paint.dim('not sent')}   write ${event.id} of ${total}: ${escapeInvisible(event.message)}`
    case 'write.waiting':
      return `waiting ${event.seconds} s before write ${event.id}: ${escapeInvisible(event.message)}`
    case 'write.isolating':
      return `isolating  write ${event.id} of ${total}: ${event.items.join(', ')} on ${event.domains.length === 1 ? event.domains[0] : `${event.domains.length} domains`}`
    case 'wave.waiting':
    case 'wave.watched':
    case 'wave.judged':
    case 'rollout.taking-back':
      return formatRolloutEvent(event, paint)
    default:
      return null
  }
}

/** `Applied: 4 writes confirmed.` and what else came of an apply. */
export function formatFinished(
  event: Extract<PrintedEvent, { type: 'apply.finished' }>,
  paint: Paint,
): string {
  const parts = formatOutcomes(event)
  const writes = parts.length === 0 ? 'nothing had to be written' : `writes: ${parts.join(', ')}`
  const whole = event.refused + event.inDoubt + event.notSent === 0
  if (event.takenBack !== undefined) {
    const back = event.takenBack
      ? paint.yellow('Taken back')
      : paint.red('Not all of it was taken back')
    return `${paint.bold(back)}; ${writes}. ${escapeInvisible(event.stopped ?? '')}.`
  }
  const stopped = event.stopped === null ? '' : ` Stopped: ${escapeInvisible(event.stopped)}.`
  return `${paint.bold(whole ? 'Applied' : 'Not everything was applied')}; ${writes}.${stopped}`
}

/** `4 confirmed`, `1 refused`, …: how many writes came to what; nothing for what none came to. */
export function formatOutcomes({ confirmed, refused, inDoubt, notSent }: OutcomeCounts): string[] {
  const counts: [number, string][] = [
    [confirmed, 'confirmed'],
    [refused, 'refused'],
    [inDoubt, 'in doubt'],
    [notSent, 'not sent'],
  ]
  return counts.flatMap(([count, outcome]) => (count > 0 ? [`${count} ${outcome}`] : []))
}
