import type { Domain, ItemKey, Value } from '../../model/item.ts'
import { buildBehaviour, behaviourItems } from '../entities/behaviour.ts'
import { filterRecentCalls } from '../entities/call-window.ts'
import type { EmulatedDomain, EmulatedDomains } from '../entities/emulated-domain.ts'
import { prefetchRetentionMs, type Prefetch } from '../entities/prefetch.ts'
import { setValueFrom, type Timeline } from '../entities/timeline.ts'

/** Everything that outlives the process where a data file is given. */
export interface Memory {
  domains: EmulatedDomains
  /** When the writes of the last minute were counted, in milliseconds. */
  writeTimes: number[]
  listPrefetches: Prefetch[]
  /** The id that the next record of a prefetch gets, and the next task that is not given one. */
  nextPrefetch: number
  nextTask: number
  /** Origins that answered nobody, from when on. */
  dead: Timeline<string[]>
}

/**
 * One thing that happened; what the service remembers is what came of all changes, in their order.
 */
export interface MemoryChange {
  /** When, in milliseconds. */
  at: number
  /** It was a write that counts against the call rate. */
  counted?: true
  /** What became of domains: their items that changed, null where one was emptied. */
  domains?: Record<Domain, { id: string; items: Record<ItemKey, Value | null> }>
  submitPrefetch?: { task: number; urls: string[] }
  dead?: string[]
  reset?: true
}

/** What a service knows that was told nothing. */
export function createMemory(): Memory {
  return {
    domains: new Map(),
    writeTimes: [],
    listPrefetches: [],
    nextPrefetch: 1,
    nextTask: 1,
    dead: [],
  }
}

/** Lets a change happen. */
export function applyChange(
  memory: Memory,
  { at, counted, domains = {}, submitPrefetch, dead, reset }: MemoryChange,
): void {
  const minute = Math.floor(at / 60_000)
  if (reset === true) Object.assign(memory, createMemory())
  if (counted === true) memory.writeTimes = [...filterRecentCalls(memory.writeTimes, at), at]
  for (const [domain, { id, items }] of Object.entries(domains)) {
    memory.domains.set(domain, changedRecord(memory.domains.get(domain), id, items, minute))
  }
  if (submitPrefetch !== undefined) submit(memory, submitPrefetch, at)
  if (dead !== undefined) memory.dead = setValueFrom(memory.dead, minute, dead)
}

function changedRecord(
  before: EmulatedDomain | undefined,
  id: string,
  changed: Record<ItemKey, Value | null>,
  minute: number,
): EmulatedDomain {
  const items = new Map(before?.items)
  for (const [item, value] of Object.entries(changed)) {
    if (value === null) items.delete(item)
    else items.set(item, value)
  }
  const held = before?.behaviour ?? []
  const asBefore =
    !behaviourItems.some((item) => Object.hasOwn(changed, item)) &&
    (held.at(-1)?.[0] ?? minute) <= minute
  return {
    id,
    items,
    behaviour: asBefore ? held : setValueFrom(held, minute, buildBehaviour(items)),
  }
}

function submit(
  memory: Memory,
  { task, urls }: { task: number; urls: string[] },
  createdAt: number,
): void {
  const records = urls.map((url, i) => ({ id: memory.nextPrefetch + i, task, url, createdAt }))
  memory.listPrefetches = [
    ...memory.listPrefetches.filter((record) => createdAt - record.createdAt < prefetchRetentionMs),
    ...records,
  ]
  memory.nextPrefetch += records.length
  memory.nextTask = Math.max(memory.nextTask, task + 1)
}
