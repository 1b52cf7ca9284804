import type { ApplyEvent } from '../../../core/model/events.ts'
import { unknownDomain } from '../../../core/model/outcome.ts'
import { formatEnd, pluralize, listSome } from '../../../core/model/text/words.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { formatRolloutEvent } from './rollout-text.ts'
import { truncate } from '../text/wrap.ts'
import { groupBy } from '../../../core/model/lists.ts'

/** Facts that the line of an event needs beside the event. */
interface LineContext {
  /** Number of writes. */
  total: number
  /** Domains and items of each write, by its number. */
  parts: ReadonlyMap<number, Part>
  /** Width of the terminal; Infinity in a log. */
  columns: number
  paint: Paint
}

/** Formats an event as a plain line, or null for an event without a line. */
function formatEvent(event: ApplyEvent, context: LineContext): string | null {
  const { paint } = context
  switch (event.type) {
    case 'write.confirmed': {
      const note =
        event.rewritten === undefined
          ? ''
          : `; the service rewrote ${escapeInvisible(event.rewritten.join(', '))}`
      return `${formatWrite('confirmed ', paint.green, event.id, context)}${note}`
    }
    case 'write.refused':
      return explain(formatWrite('refused   ', paint.red, event.id, context), event)
    case 'write.in-doubt':
      return explain(formatWrite('in-doubt  ', paint.yellow, event.id, context, event), event)
    case 'write.not-sent':
      return event.reason === 'unchanged'
        ? formatWrite('unchanged, not sent', paint.dim, event.id, context)
        : explain(formatWrite('not sent  ', paint.dim, event.id, context), event)
    case 'write.waiting':
      return (
        `waiting ${event.seconds} s before write ${event.id} and maybe others, until ` +
        `${formatEnd(Date.parse(event.time), event.seconds * 1000)}: ` +
        escapeInvisible(event.message)
      )
    case 'write.isolating':
      return formatWrite('bisecting ', String, event.id, context, event)
    case 'part.confirmed':
      return formatPartLine('confirmed ', paint.green, event, context)
    case 'part.refused': {
      const line = explain(formatPartLine('refused   ', paint.red, event, context), event)
      const isUnknown = event.code === unknownDomain && event.domains.length === 1
      return isUnknown ? `${line}; the domain is left out of all other writes` : line
    }
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

function explain(line: string, { message }: { message: string }): string {
  return `${line}: ${escapeInvisible(message)}`
}

/** Formats `confirmed  write 1 of 2  https on www.example.com`. */
function formatWrite(
  word: string,
  colour: (text: string) => string,
  id: number,
  { total, parts, columns }: LineContext,
  part = parts.get(id),
): string {
  const name = ` write ${id} of ${total}`
  const room = columns - measureWidth(word + name) - 4
  return `${colour(word)}${name}${part === undefined ? '' : `  ${formatPart(part, room)}`}`
}

function formatPartLine(
  word: string,
  colour: (text: string) => string,
  part: Part & { id: number },
  { columns }: LineContext,
): string {
  const name = ` part of write ${part.id}  `
  return `${colour(word)}${name}${formatPart(part, columns - measureWidth(word + name) - 1)}`
}

/** Domains and items of a write, or of a part of one. */
export interface Part {
  domains: readonly string[]
  items: readonly string[]
}

const maxNames = 2
/** Columns of a truncated name that still help. */
const minNameRoom = 10

/**
 * Formats a part: `https on 4 domains (css.example.com, img.example.com, …)`. The names that don't
 * fit are omitted, the last one is truncated, then the items are counted.
 *
 * @param room columns of a terminal line that are left; Infinity in a log
 */
export function formatPart({ domains, items }: Part, room: number): string {
  const names = domains.slice(0, maxNames).map(escapeInvisible)
  const where = (listed: string[]) => {
    if (domains.length === 1) return names.join()
    const rest = listed.length < domains.length ? ['…'] : []
    const some = listed.length === 0 ? '' : ` (${[...listed, ...rest].join(', ')})`
    return `${pluralize(domains.length, 'domain')}${some}`
  }
  const what = [
    listSome(items.map(escapeInvisible)),
    ...(items.length === 1 ? [] : [pluralize(items.length, 'item')]),
  ]
  const texts = what.flatMap((each) => {
    const lists = names.map((_, i) => `${each} on ${where(names.slice(0, names.length - i))}`)
    if (domains.length === 1) return lists
    const none = `${each} on ${where([])}`
    const nameRoom = room - measureWidth(`${none} (, …)`)
    const start = truncate(names[0] ?? '', nameRoom)
    return [...lists, ...(nameRoom < minNameRoom ? [] : [`${each} on ${where([start])}`]), none]
  })
  return texts.find((text) => measureWidth(text) <= room) ?? texts.at(-1) ?? ''
}

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
  #printNotSent(same: [NotSent, ...NotSent[]]): string[] {
    const [first] = same
    // The last line of an interrupted apply counts them.
    if (first.reason === 'interrupted') return []
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
