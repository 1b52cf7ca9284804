import { groupBy } from '../../../core/model/lists.ts'
import type { Write } from '../../../core/model/change.ts'
import type { ApplyEvent } from '../../../core/model/events.ts'

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
  const refusals = new Map<number, string>()
  const settled = new Set<string>()
  const leftOut = new Set<number>()
  const settle = ({ id, domains, items }: { id: number; domains: string[]; items: string[] }) => {
    for (const domain of domains) for (const item of items) settled.add(formatKey(id, domain, item))
  }
  for (const event of events) {
    switch (event.type) {
      case 'write.started':
        named.set(event.id, event)
        break
      case 'write.confirmed':
        words.set(event.id, leftOut.has(event.id) ? 'confirmed in part' : 'confirmed')
        break
      case 'write.refused':
        words.set(event.id, 'refused')
        refusals.set(event.id, event.message)
        break
      case 'part.confirmed':
        settle(event)
        words.set(event.id, 'refused in part')
        break
      case 'part.refused':
        settle(event)
        refused.push({
          ...event,
          place: event.file === null ? null : `${event.file}:${event.line ?? 1}`,
        })
        break
      case 'part.not-sent':
        leftOut.add(event.id)
        notSent.push({ ...event, place: null })
        break
      case 'write.in-doubt':
        if (!words.has(event.id)) words.set(event.id, 'in-doubt')
        settle(event)
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
  // No event names the parts of a call that nobody may make, nor the rest of a stopped bisection.
  for (const [id, message] of refusals) {
    const { domains, items } = name(id)
    const findRest = (domain: string) =>
      items.filter((item) => !settled.has(formatKey(id, domain, item)))
    for (const same of groupBy(domains, (domain) => findRest(domain).join()).values()) {
      const rest = findRest(same[0] ?? '')
      if (rest.length > 0) refused.push({ id, domains: same, items: rest, message, place: null })
    }
  }
  for (const { id } of writes) {
    if (words.has(id)) continue
    words.set(id, 'not begun')
    notSent.push({ id, ...name(id), message: 'it was not begun', place: null })
  }
  return outcomes
}

function formatKey(id: number, domain: string, item: string): string {
  return `${id} ${domain} ${item}`
}
