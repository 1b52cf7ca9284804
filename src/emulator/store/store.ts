import { buildBehaviour, computeFailingShare } from '../entities/behaviour.ts'
import { countCalls, type CallCount } from '../entities/call-window.ts'
import { maxCallsKept, type Call } from '../entities/call.ts'
import { prefetchRetentionMs, type Prefetch } from '../entities/prefetch.ts'
import type { History } from '../entities/statistics.ts'
import { getValueAt, type Timeline } from '../entities/timeline.ts'
import type { Domain, ItemKey, Value } from '../../model/item.ts'
import type { DataLog } from './data-log.ts'
import type { MemoryChange, Memory } from './memory.ts'

export interface StoreOptions {
  /** Domains that exist; null: every well-formed one does. */
  domains: ReadonlySet<Domain> | null
  callsPerMinute: number
  /** Origins that answered nobody from the beginning. */
  listDeadOrigins: string[]
}

/**
 * Everything that the service remembers. A change is durable once its method returns; where that
 * fails it throws, and nothing has changed.
 */
export class Store {
  readonly #options: StoreOptions
  readonly #log: DataLog
  #calls: Call[] = []

  constructor(options: StoreOptions, log: DataLog) {
    this.#options = options
    this.#log = log
  }

  get #memory(): Memory {
    return this.#log.memory
  }

  /** Whether a (well-formed, lower-case) domain exists at the service. */
  hasDomain(domain: Domain): boolean {
    return this.#options.domains === null || this.#options.domains.has(domain)
  }

  /** All domains; where every well-formed one exists, those that were ever written. */
  listDomains(): Domain[] {
    return [...(this.#options.domains ?? this.#memory.domains.keys())]
  }

  /** What a domain holds; nothing before its first write. */
  getItems(domain: Domain): ReadonlyMap<ItemKey, Value> {
    return this.#memory.domains.get(domain)?.items ?? new Map()
  }

  /** Everything that is held; domains without items are left out. */
  listConfigured(): [Domain, ReadonlyMap<ItemKey, Value>][] {
    return [...this.#memory.domains].flatMap(([domain, { items }]) =>
      items.size === 0 ? [] : [[domain, items]],
    )
  }

  /**
   * Takes over what a write made of its domains, all at once, and says their ids. The write counts
   * against the call rate.
   */
  configure(
    domains: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Value>>,
    now: number,
  ): { id: string; domain: Domain }[] {
    let known = this.#memory.domains.size
    const changed = [...domains].map(([domain, items]) => {
      const record = this.#memory.domains.get(domain)
      return {
        domain,
        id: record?.id ?? String(++known),
        items: changedItems(record?.items ?? new Map(), items),
      }
    })
    const records = Object.fromEntries(
      changed.map(({ domain, id, items }) => [domain, { id, items }]),
    )
    this.#log.commit({ ...this.#counted(now), domains: records })
    return changed.map(({ domain, id }) => ({ id, domain }))
  }

  /** Counts a write that changes nothing. */
  countWrite(now: number): void {
    const change = this.#counted(now)
    if (change.counted === true) this.#log.commit(change)
  }

  /** How the call rate of writes stands. */
  getCallCount(now: number): CallCount {
    return countCalls(this.#memory.writeTimes, this.#options.callsPerMinute, now)
  }

  #counted(now: number): MemoryChange {
    return this.#options.callsPerMinute === 0 ? { at: now } : { at: now, counted: true }
  }

  /** What the requests of a domain met so far. */
  getHistory(domain: Domain): History {
    return { behaviour: this.#memory.domains.get(domain)?.behaviour ?? [], dead: this.#dead() }
  }

  /** The origins that answer nobody. */
  listDeadOrigins(): string[] {
    return this.#memory.dead.at(-1)?.[1] ?? this.#options.listDeadOrigins
  }

  /** From now on, these origins answer nobody, and all others do. */
  setDeadOrigins(dead: string[], now: number): void {
    this.#log.commit({ at: now, dead })
  }

  #dead(): Timeline<ReadonlySet<string>> {
    const beginning = [-Infinity, this.#options.listDeadOrigins] as const
    return [beginning, ...this.#memory.dead].map(([from, addresses]) => [from, new Set(addresses)])
  }

  /** Whether nothing could be fetched from the origins of a domain at a time. */
  isOriginDown(domain: Domain, time: number): boolean {
    const minute = Math.floor(time / 60_000)
    const { behaviour, dead } = this.getHistory(domain)
    return (
      computeFailingShare(
        getValueAt(behaviour, minute) ?? buildBehaviour(new Map()),
        getValueAt(dead, minute) ?? new Set(),
      ) === 1
    )
  }

  /** Submits URLs, to a task of this id or a new one, and says its id. */
  submitPrefetch(urls: string[], task: number | undefined, now: number): number {
    const id = task ?? this.#memory.nextTask
    this.#log.commit({ at: now, submitPrefetch: { task: id, urls } })
    return id
  }

  /** The records of prefetches that are kept at `now`, oldest first. */
  listPrefetches(now: number): Prefetch[] {
    return this.#memory.listPrefetches.filter(
      ({ createdAt }) => now - createdAt < prefetchRetentionMs,
    )
  }

  /** The last calls, oldest first. */
  listCalls(): readonly Call[] {
    return this.#calls
  }

  addCall(call: Call): void {
    this.#calls.push(call)
    if (this.#calls.length > maxCallsKept) this.#calls.shift()
  }

  /** Forgets everything but which domains exist. */
  reset(now: number): void {
    this.#log.commit({ at: now, reset: true })
    this.#calls = []
  }
}

/** The items that a write changed; null for those that it emptied. */
function changedItems(
  before: ReadonlyMap<ItemKey, Value>,
  after: ReadonlyMap<ItemKey, Value>,
): Record<ItemKey, Value | null> {
  const changed = [...after].filter(([item, value]) => before.get(item) !== value)
  const emptied = [...before.keys()].filter((item) => !after.has(item))
  return Object.fromEntries([...changed, ...emptied.map((item) => [item, null] as const)])
}
