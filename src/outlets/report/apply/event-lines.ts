import type { ApplyEvent } from '../../../core/model/events.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { interrupted, leftOut } from '../../../core/model/outcome.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { formatEvent, type Part } from './event-text.ts'

/** More writes that were not sent for one reason are one line. */
const maxNotSent = 3

type NotSent = Extract<ApplyEvent, { type: 'write.not-sent' }>

/** Lines of the events of an apply. */
export interface EventLines {
  /** Formats an event, and the writes before it that were not sent. */
  format(event: ApplyEvent): string[]
  /** Formats the writes that were not sent, if the apply ended without its last event. */
  end(): string[]
}

/**
 * Creates the lines of an apply. Writes that were not sent are one line for each reason, a wait of
 * several writes is one line, and a repeated reason is not repeated.
 *
 * @param writes domains and items of each write, by its number
 */
export function createEventLines(
  writes: ReadonlyMap<number, Part>,
  paint: Paint,
  columns: number,
): EventLines {
  let context = { total: writes.size, parts: new Map(writes), paint, columns }
  let notSent: NotSent[] = []
  let [lastWait, lastReason] = ['', '']
  const shorten = <Event extends ApplyEvent>(event: Event): Event => {
    // A terminal shows a wait in its live line only.
    if (!('message' in event) || event.type === 'write.waiting') return event
    const isSame = event.message === lastReason
    lastReason = event.message
    const isShort = isSame && (event.type === 'write.refused' || event.type === 'write.not-sent')
    return isShort ? { ...event, message: 'for the same reason' } : event
  }
  const print = (event: ApplyEvent): string[] => {
    const line = formatEvent(shorten(event), context)
    return line === null ? [] : [line]
  }
  const flush = () => {
    const groups = groupBy(notSent, ({ message }) => message)
    notSent = []
    return [...groups.values()].flatMap((same) => {
      const [first] = same
      // The last line of an interrupted apply counts them.
      if (first === undefined || first.message === interrupted) return []
      if (same.length <= maxNotSent && first.message !== leftOut) return same.flatMap(print)
      const count = pluralize(same.length, 'write')
      if (first.reason === 'unchanged') return [`${paint.dim('unchanged, not sent')}  ${count}`]
      const { message } = shorten(first)
      return [`${paint.dim('not sent  ')} ${count}: ${escapeInvisible(message)}`]
    })
  }
  return {
    format: (event) => {
      const wait = event.type === 'write.waiting' ? `${event.seconds} ${event.message}` : ''
      const isRepeated = wait !== '' && wait === lastWait
      lastWait = wait
      switch (event.type) {
        case 'write.not-sent':
          notSent.push(event)
          return []
        case 'write.started':
          context.parts.set(event.id, event)
          return []
        case 'rollout.taking-back': {
          const lines = flush()
          // The writes of the rollback have numbers of their own.
          context = { ...context, total: event.writes, parts: new Map() }
          return [...lines, ...print(event)]
        }
        case 'apply.finished':
          return flush()
        default:
          return isRepeated ? [] : print(event)
      }
    },
    end: flush,
  }
}
