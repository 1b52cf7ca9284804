import type { Domain, ItemKey, Value } from '../../model/item.ts'
import { buildBehaviour, behaviourItems } from '../entities/behaviour.ts'
import { filterRecentCalls } from '../entities/call-window.ts'
import {
  applyAccountChange,
  createAccountMemory,
  type AccountChange,
  type AccountMemory,
} from './account-memory.ts'
import type { EmulatedDomain, EmulatedDomains } from '../entities/emulated-domain.ts'
import { prefetchRetentionMs, type Prefetch, type RefreshType } from '../entities/prefetch.ts'
import { setValueFrom, type Timeline } from '../entities/timeline.ts'

/** All data that outlives the process if a data file is configured. */
export interface Memory {
  domains: EmulatedDomains
  /** Times of the counted writes of the last minute, ms. */
  writeTimes: number[]
  prefetches: Prefetch[]
  /** Id of the next prefetch record, and of the next task without an id. */
  nextPrefetch: number
  nextTask: number
  /** Origins that did not answer, over time. */
  dead: Timeline<string[]>
  account: AccountMemory
}

/** One change; the memory is the result of all changes in their order. */
export interface MemoryChange {
  /** Time of the change, ms. */
  at: number
  /** The change is a write that counts against the call rate. */
  counted?: true
  /** Changed items of domains; null for cleared ones. */
  domains?: Record<Domain, { id: string; items: Record<ItemKey, Value | null> }>
  prefetch?: Submission
  dead?: string[]
  reset?: true
  account?: AccountChange
}

interface Submission {
  task: number
  urls: string[]
  /** Absent for prefetches. */
  type?: RefreshType
  /** Maximum number of records kept, the latest; absent without one. */
  max?: number
}

/** Creates an empty memory. */
export function createMemory(): Memory {
  return {
    domains: new Map(),
    writeTimes: [],
    prefetches: [],
    nextPrefetch: 1,
    nextTask: 1,
    dead: [],
    account: createAccountMemory(),
  }
}

/** Applies a change to the memory. */
export function applyChange(
  memory: Memory,
  { at, counted, domains = {}, prefetch, dead, reset, account }: MemoryChange,
): void {
  const minute = Math.floor(at / 60_000)
  if (reset === true) Object.assign(memory, createMemory())
  if (counted === true) memory.writeTimes = [...filterRecentCalls(memory.writeTimes, at), at]
  for (const [domain, { id, items }] of Object.entries(domains)) {
    memory.domains.set(domain, updateDomain(memory.domains.get(domain), id, items, minute))
  }
  if (prefetch !== undefined) submit(memory, prefetch, at)
  if (dead !== undefined) memory.dead = setValueFrom(memory.dead, minute, dead)
  if (account !== undefined) applyAccountChange(memory.account, account, at)
}

function updateDomain(
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
  const timeline = before?.behaviour ?? []
  const isUnchanged =
    !behaviourItems.some((item) => Object.hasOwn(changed, item)) &&
    (timeline.at(-1)?.[0] ?? minute) <= minute
  return {
    id,
    items,
    behaviour: isUnchanged ? timeline : setValueFrom(timeline, minute, buildBehaviour(items)),
  }
}

function submit(memory: Memory, { task, urls, type, max }: Submission, createdAt: number): void {
  const records = urls.map((url, i) => ({
    id: memory.nextPrefetch + i,
    task,
    url,
    createdAt,
    ...(type === undefined ? {} : { type }),
  }))
  const kept = [
    ...memory.prefetches.filter((record) => createdAt - record.createdAt < prefetchRetentionMs),
    ...records,
  ]
  memory.prefetches = max === undefined ? kept : kept.slice(-max)
  memory.nextPrefetch += records.length
  memory.nextTask = Math.max(memory.nextTask, task + 1)
}
