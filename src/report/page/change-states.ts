import type { Change, Write } from '../../model/change.ts'
import type { ApplyEvent } from '../../model/events.ts'
import type { Domain, ItemKey } from '../../model/item.ts'

/** How a change, or a part of one, ended. The first of those of several writes counts. */
const stateNames = [
  'in-doubt',
  'refused',
  'rolled back',
  'not sent',
  'confirmed',
  'unchanged',
] as const
type State = (typeof stateNames)[number]

/** What became of a write: the whole of it, and the parts of which more is known. */
interface WriteStates {
  whole: State
  parts: Map<string, State>
}

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
  const byWrite = collectStates(events)
  const rolledBack = collectRolledBack(back)
  const states = new Map<string, State>()
  for (const { id, domains, items } of writes) {
    const { whole, parts } = byWrite.get(id) ?? { whole: 'not sent', parts: new Map() }
    for (const domain of domains) {
      for (const item of Object.keys(items)) {
        const key = formatKey(domain, item)
        const state = parts.get(key) ?? whole
        const last = state === 'confirmed' ? (rolledBack.get(key) ?? state) : state
        states.set(key, findWorst(states.get(key), last))
      }
    }
  }
  return ({ domain, item, action, reason, by }) => {
    if (reason === 'cleared') return states.get(formatKey(domain, by ?? item)) ?? null
    if (action !== 'release') return states.get(formatKey(domain, item)) ?? null
    if (hasItem === null) return null
    return hasItem(domain, item) ? 'not sent' : 'confirmed'
  }
}

function collectStates(events: ApplyEvent[]): Map<number, WriteStates> {
  const byWrite = new Map<number, WriteStates>()
  const getStates = (id: number): WriteStates => {
    const known = byWrite.get(id) ?? { whole: 'not sent', parts: new Map<string, State>() }
    byWrite.set(id, known)
    return known
  }
  for (const event of events) {
    switch (event.type) {
      case 'write.started':
        // Until an outcome follows, its effect is not known.
        getStates(event.id).whole = 'in-doubt'
        break
      case 'write.confirmed':
        getStates(event.id).whole = 'confirmed'
        break
      case 'write.refused':
        getStates(event.id).whole = 'refused'
        break
      case 'write.not-sent':
        getStates(event.id).whole = event.reason === 'unchanged' ? 'unchanged' : 'not sent'
        break
      case 'part.confirmed':
      case 'part.refused':
      case 'part.not-sent':
      case 'write.in-doubt':
        for (const key of listKeys(event))
          getStates(event.id).parts.set(key, statesOfParts[event.type])
        break
      default:
    }
  }
  return byWrite
}

const statesOfParts = {
  'part.confirmed': 'confirmed',
  'part.refused': 'refused',
  'part.not-sent': 'not sent',
  'write.in-doubt': 'in-doubt',
} as const

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
