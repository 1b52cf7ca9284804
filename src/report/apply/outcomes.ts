import type { Write } from '../../model/change.ts'
import type { ApplyEvent } from '../../model/events.ts'

/** Writes, or parts of writes, that were not confirmed, with the reason. */
export interface Unconfirmed {
  /** Number of the write. */
  id: number
  /** Empty if the event of a rollback does not name them. */
  domains: string[]
  items: string[]
  message: string
  /** Place in a manifest, such as `domains/a.yaml:7`; null if there is none. */
  place: string | null
}

/** What became of the planned writes. */
export interface Outcomes {
  refused: Unconfirmed[]
  inDoubt: Unconfirmed[]
  notSent: Unconfirmed[]
  /** One word for each write, by its number. */
  words: Map<number, string>
}

/** Collects the outcomes of the writes from the events of their apply. */
export function collectOutcomes(writes: Write[], events: ApplyEvent[]): Outcomes {
  const named = new Map(
    writes.map(({ id, domains, items }) => [id, { domains, items: Object.keys(items) }]),
  )
  const outcomes: Outcomes = { refused: [], inDoubt: [], notSent: [], words: new Map() }
  const { refused, inDoubt, notSent, words } = outcomes
  const name = (id: number) => named.get(id) ?? { domains: [], items: [] }
  const fatal = new Map<number, string>()
  for (const event of events) {
    switch (event.type) {
      case 'write.started':
        named.set(event.id, event)
        break
      case 'write.confirmed':
        words.set(event.id, 'confirmed')
        break
      case 'write.refused':
        words.set(event.id, 'refused')
        fatal.set(event.id, event.message)
        break
      case 'write.isolating':
        fatal.delete(event.id)
        break
      case 'part.confirmed':
        words.set(event.id, 'refused in part')
        break
      case 'part.refused':
        fatal.delete(event.id)
        refused.push({
          ...event,
          place: event.file === null ? null : `${event.file}:${event.line ?? 1}`,
        })
        break
      case 'write.in-doubt':
        if (!words.has(event.id)) words.set(event.id, 'in-doubt')
        inDoubt.push({ ...event, place: null })
        break
      case 'write.not-sent':
        words.set(event.id, event.reason === 'unchanged' ? 'unchanged, not sent' : 'not sent')
        if (event.reason !== 'unchanged')
          notSent.push({ id: event.id, ...name(event.id), message: event.message, place: null })
        break
      default:
    }
  }
  // A call that nobody may make is refused as a whole, without parts.
  for (const [id, message] of fatal) refused.push({ id, ...name(id), message, place: null })
  for (const { id } of writes) {
    if (words.has(id)) continue
    words.set(id, 'not begun')
    notSent.push({ id, ...name(id), message: 'it was not begun', place: null })
  }
  return outcomes
}
