import type { Change, Write } from '../../../core/model/change.ts'
import type { ApplyEvent } from '../../../core/model/events.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'
import { collectOutcomes, type Unconfirmed } from '../apply/outcomes.ts'

/** Ends of a change, or of a part of one. The first of those of several writes counts. */
const stateNames = [
  'in-doubt',
  'refused',
  'rolled back',
  'not sent',
  'confirmed',
  'unchanged',
] as const
type State = (typeof stateNames)[number]

/**
 * Finds how each change ended, by the events of its apply. A write without an outcome is in-doubt
 * if it was begun. A cleared item ended as the one that clears it, and a released one when state no
 * longer has it.
 *
 * @param events of the apply, without those of a rollback by a health check
 * @param back events of that rollback
 * @param hasItem tests whether state has an item after the apply; null if that is not known
 */
export function findChangeStates(
  writes: Write[],
  events: ApplyEvent[],
  back: ApplyEvent[],
  hasItem: ((domain: Domain, item: ItemKey) => boolean) | null,
): (change: Change) => string | null {
  const findState = createStateLookup(writes, events)
  const rolledBack = collectRolledBack(back)
  const states = new Map<string, State>()
  for (const { id, domains, items } of writes)
    for (const key of listKeys({ domains, items: Object.keys(items) })) {
      const state = findState(id, key)
      const last = state === 'confirmed' ? (rolledBack.get(key) ?? state) : state
      states.set(key, findWorst(states.get(key), last))
    }
  return ({ domain, item, action, reason, by }) => {
    if (reason === 'cleared') return states.get(formatKey(domain, by ?? item)) ?? null
    if (action !== 'release') return states.get(formatKey(domain, item)) ?? null
    if (hasItem === null) return null
    return hasItem(domain, item) ? 'not sent' : 'confirmed'
  }
}

/** Creates a lookup of the state of a part of a write, by the number of the write and the key. */
function createStateLookup(
  writes: Write[],
  events: ApplyEvent[],
): (write: number, key: string) => State {
  const { ends, notSent, refused, inDoubt } = collectOutcomes(writes, events)
  const begun = new Set(events.flatMap((event) => (event.type === 'write.started' ? event.id : [])))
  const parts = new Map<string, State>()
  const add = (entries: Unconfirmed[], state: State) => {
    for (const entry of entries)
      for (const key of listKeys(entry)) parts.set(`${entry.id} ${key}`, state)
  }
  add(notSent, 'not sent')
  add(refused, 'refused')
  add(inDoubt, 'in-doubt')
  return (write, key) => {
    const end = ends.get(write)
    // Until an outcome follows, the effect of a write that was begun is not known.
    if (end === 'not begun') return begun.has(write) ? 'in-doubt' : 'not sent'
    if (end === 'unchanged') return 'unchanged'
    return parts.get(`${write} ${key}`) ?? 'confirmed'
  }
}

/** Finds what a rollback did to domains and items; a refused one leaves them as they were. */
function collectRolledBack(events: ApplyEvent[]): Map<string, State> {
  const keysByWrite = new Map<number, string[]>()
  const states = new Map<string, State>()
  const setAll = (keys: string[], state: State) => {
    for (const key of keys) states.set(key, state)
  }
  for (const event of events) {
    if (event.type === 'write.started') keysByWrite.set(event.id, listKeys(event))
    if (event.type === 'write.confirmed') setAll(keysByWrite.get(event.id) ?? [], 'rolled back')
    if (event.type === 'part.confirmed') setAll(listKeys(event), 'rolled back')
    if (event.type === 'write.in-doubt') setAll(listKeys(event), 'in-doubt')
  }
  return states
}

function listKeys({ domains, items }: { domains: Domain[]; items: ItemKey[] }): string[] {
  return domains.flatMap((domain) => items.map((item) => formatKey(domain, item)))
}

function findWorst(a: State | undefined, b: State): State {
  return a === undefined || stateNames.indexOf(b) < stateNames.indexOf(a) ? b : a
}

function formatKey(domain: Domain, item: ItemKey): string {
  return `${domain} ${item}`
}
