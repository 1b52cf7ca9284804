import { append, groupBy } from '../../../core/model/lists.ts'
import { toPart, type Write } from '../../../core/model/change.ts'
import type { ApplyEvent } from '../../../core/model/events.ts'

/** Writes, or parts of writes, that were not confirmed, with the reason. */
export interface Unconfirmed {
  /** Number of the write. */
  id: number
  /** Empty if the event of a rollback does not name them. */
  domains: string[]
  items: string[]
  message: string
  /** Present if it was not sent because the service does not know its domains. */
  isLeftOut?: true
  /** Place in a manifest, such as `domains/a.yaml:7`; null if there is none. */
  place: string | null
}

/** End of a write. */
export type WriteEnd =
  | 'confirmed'
  /** Without the domains that the service does not know. */
  | 'confirmed in part'
  | 'refused'
  | 'refused in part'
  | 'in-doubt'
  | 'not sent'
  | 'unchanged'
  | 'not begun'

/** Outcomes of the planned writes. */
export interface Outcomes {
  refused: Unconfirmed[]
  inDoubt: Unconfirmed[]
  notSent: Unconfirmed[]
  /** Ends of the writes, by their numbers. */
  ends: Map<number, WriteEnd>
}

type Named = Pick<Unconfirmed, 'domains' | 'items'>

/** Outcomes of the events so far, and what the rest of the outcomes needs of them. */
interface Collected extends Outcomes {
  /** Domains and items of the writes, by their numbers. */
  named: Map<number, Named>
  /** Reasons of the refused writes, by their numbers. */
  refusals: Map<number, string>
  /** Keys of the parts of refused writes that have an event of their own. */
  settled: Set<string>
  /** Writes that are sent without a part. */
  reduced: Set<number>
}

/** Collects the outcomes of the writes from the events of their apply. */
export function collectOutcomes(writes: Write[], events: ApplyEvent[]): Outcomes {
  const collected: Collected = {
    refused: [],
    inDoubt: [],
    notSent: [],
    ends: new Map(),
    named: new Map(writes.map((write) => [write.id, toPart(write)])),
    refusals: new Map(),
    settled: new Set(),
    reduced: new Set(),
  }
  for (const event of events) addEvent(collected, event)
  append(collected.refused, listUnsettled(collected))
  const { notSent, ends } = collected
  for (const { id } of writes) {
    if (ends.has(id)) continue
    ends.set(id, 'not begun')
    notSent.push(createEntry(collected, id, 'it was not begun'))
  }
  return collected
}

/** Adds an event to the outcomes. */
function addEvent(collected: Collected, event: ApplyEvent): void {
  const { refused, inDoubt, notSent, ends } = collected
  switch (event.type) {
    case 'write.started':
      collected.named.set(event.id, event)
      break
    case 'write.confirmed':
      ends.set(event.id, collected.reduced.has(event.id) ? 'confirmed in part' : 'confirmed')
      break
    case 'write.refused':
      ends.set(event.id, 'refused')
      collected.refusals.set(event.id, event.message)
      break
    case 'part.confirmed':
      settle(collected, event)
      ends.set(event.id, 'refused in part')
      break
    case 'part.refused':
      settle(collected, event)
      refused.push({
        ...event,
        place: event.file === null ? null : `${event.file}:${event.line ?? 1}`,
      })
      break
    case 'part.not-sent':
      collected.reduced.add(event.id)
      notSent.push({ ...event, isLeftOut: true, place: null })
      break
    case 'write.in-doubt':
      if (!ends.has(event.id)) ends.set(event.id, 'in-doubt')
      settle(collected, event)
      inDoubt.push({ ...event, place: null })
      break
    case 'write.not-sent':
      ends.set(event.id, event.reason === 'unchanged' ? 'unchanged' : 'not sent')
      if (event.reason !== 'unchanged')
        notSent.push({
          ...createEntry(collected, event.id, event.message),
          ...(event.reason === 'left-out' ? { isLeftOut: true } : {}),
        })
      break
    default:
  }
}

function settle({ settled }: Collected, { id, domains, items }: Named & { id: number }): void {
  for (const domain of domains) for (const item of items) settled.add(formatKey(id, domain, item))
}

function createEntry({ named }: Collected, id: number, message: string): Unconfirmed {
  return { id, ...(named.get(id) ?? { domains: [], items: [] }), message, place: null }
}

/**
 * Lists the parts of refused writes that no event names: those of a call that nobody may make, and
 * the rest of a stopped bisection.
 */
function listUnsettled(collected: Collected): Unconfirmed[] {
  return [...collected.refusals].flatMap(([id, message]) => {
    const entry = createEntry(collected, id, message)
    const findRest = (domain: string) =>
      entry.items.filter((item) => !collected.settled.has(formatKey(id, domain, item)))
    return [...groupBy(entry.domains, (domain) => findRest(domain).join()).values()].flatMap(
      (domains) => {
        const items = findRest(domains[0])
        return items.length === 0 ? [] : [{ ...entry, domains, items }]
      },
    )
  })
}

function formatKey(id: number, domain: string, item: string): string {
  return `${id} ${domain} ${item}`
}
