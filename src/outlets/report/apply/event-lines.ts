import type { ApplyEvent } from '../../../core/model/events.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { formatEvent, type LineContext, type Part } from './event-text.ts'

/** More writes that were not sent for one reason are one line. */
const maxNotSent = 3

type NotSent = Extract<ApplyEvent, { type: 'write.not-sent' }>

/**
 * Lines of the events of an apply. Writes that were not sent are one line for each reason, a wait
 * of several writes is one line, and a repeated reason is not repeated.
 */
export class EventLines {
  #context: LineContext & { parts: Map<number, Part> }
  /** Writes that were not sent, and have no line yet. */
  #notSent: NotSent[] = []
  #lastWait = ''
  #lastReason = ''

  /** @param writes domains and items of each write, by its number */
  constructor(writes: ReadonlyMap<number, Part>, paint: Paint, columns: number) {
    this.#context = { total: writes.size, parts: new Map(writes), paint, columns }
  }

  /** Formats an event, and the writes before it that were not sent. */
  format(event: ApplyEvent): string[] {
    const wait = event.type === 'write.waiting' ? `${event.seconds} ${event.message}` : ''
    const isRepeated = wait !== '' && wait === this.#lastWait
    this.#lastWait = wait
    switch (event.type) {
      case 'write.not-sent':
        this.#notSent.push(event)
        return []
      case 'write.started':
        this.#context.parts.set(event.id, event)
        return []
      case 'rollout.taking-back': {
        const lines = this.end()
        // The writes of the rollback have numbers of their own.
        this.#context = { ...this.#context, total: event.writes, parts: new Map() }
        return [...lines, ...this.#print(event)]
      }
      case 'apply.finished':
        return this.end()
      default:
        return isRepeated ? [] : this.#print(event)
    }
  }

  /** Formats the writes that were not sent, if the apply ended without its last event. */
  end(): string[] {
    const groups = groupBy(this.#notSent, ({ reason = '', message }) => `${reason} ${message}`)
    this.#notSent = []
    return [...groups.values()].flatMap((same) => this.#printNotSent(same))
  }

  /** Formats writes that were not sent for the same reason. */
  #printNotSent(same: NotSent[]): string[] {
    const [first] = same
    // The last line of an interrupted apply counts them.
    if (first === undefined || first.reason === 'interrupted') return []
    if (same.length <= maxNotSent && first.reason !== 'left-out')
      return same.flatMap((event) => this.#print(event))
    const { dim } = this.#context.paint
    const count = pluralize(same.length, 'write')
    if (first.reason === 'unchanged') return [`${dim('unchanged, not sent')}  ${count}`]
    return [`${dim('not sent  ')} ${count}: ${escapeInvisible(this.#shorten(first).message)}`]
  }

  #print(event: ApplyEvent): string[] {
    const line = formatEvent(this.#shorten(event), this.#context)
    return line === null ? [] : [line]
  }

  /** Replaces the reason of an event if it is that of the event before it. */
  #shorten<Event extends ApplyEvent>(event: Event): Event {
    // A terminal shows a wait in its live line only.
    if (!('message' in event) || event.type === 'write.waiting') return event
    const isSame = event.message === this.#lastReason
    this.#lastReason = event.message
    const isShort = isSame && (event.type === 'write.refused' || event.type === 'write.not-sent')
    return isShort ? { ...event, message: 'for the same reason' } : event
  }
}
