import { isAcceleratedDomain } from '../../catalog/value/formats.ts'
import { buildBehaviour, computeFailingShare } from '../entities/behaviour.ts'
import { countCalls, type CallCount } from '../entities/call-window.ts'
import { maxCallsKept, type Call } from '../entities/call.ts'
import { prefetchRetentionMs, type Prefetch, type RefreshType } from '../entities/prefetch.ts'
import type { History } from '../entities/statistics.ts'
import { getValueAt, type Timeline } from '../entities/timeline.ts'
import type { Domain, ItemKey, Value } from '../../model/item.ts'
import { AccountStore } from './account-store.ts'
import { computeDomainId } from '../entities/domain-id.ts'
import type { DataLog } from './data-log.ts'
import type { MemoryChange, Memory } from './memory.ts'

export interface StoreOptions {
  /** Existing domains; null: every well-formed one exists. */
  domains: ReadonlySet<Domain> | null
  callsPerMinute: number
  /** Origins that do not answer initially. */
  deadOrigins: string[]
  /** Whether it records changes of domains, and their ids follow from their names. */
  extended?: boolean
}

/**
 * Data of the service. A change is durable after `sync`; if the method of a change throws, nothing
 * has changed.
 */
export class Store {
  readonly #options: StoreOptions
  readonly #log: DataLog
  /** What an extended service has beside the specification; otherwise empty. */
  readonly account: AccountStore
  #calls: Call[] = []

  constructor(options: StoreOptions, log: DataLog) {
    this.#options = options
    this.#log = log
    this.account = new AccountStore(log)
  }

  /** Whether no change waits for a sync, and none has failed. */
  get isDurable(): boolean {
    return this.#log.isDurable
  }

  /** Makes all changes so far durable. Throws, from then on, if that fails. */
  sync(): Promise<void> {
    return this.#log.sync()
  }

  get #memory(): Memory {
    return this.#log.memory
  }

  /** Reports whether a (well-formed, lower-case) domain exists at the service. */
  hasDomain(domain: Domain): boolean {
    const { createdAt, removed } = this.account.getRecord(domain)
    if (removed || createdAt !== null) return !removed
    return this.#options.domains === null || this.#options.domains.has(domain)
  }

  /** Finds the domain that serves a host: itself, or the nearest wildcard above it. */
  findDomain(host: string): Domain | null {
    const above = [...host.matchAll(/\./g)].map(({ index }) => host.slice(index))
    return (
      [host, ...above].find((each) => isAcceleratedDomain(each) && this.hasDomain(each)) ?? null
    )
  }

  /** Lists all domains; if every well-formed one exists, those that were ever written. */
  listDomains(): Domain[] {
    const known = this.#options.domains ?? this.#memory.domains.keys()
    const all = new Set([...known, ...this.account.listRecorded()])
    return [...all].filter((domain) => this.hasDomain(domain))
  }

  /** Returns the id of a domain of an extended service; it never changes. */
  getId(domain: Domain): string {
    return this.#memory.domains.get(domain)?.id ?? computeDomainId(domain)
  }

  /** Returns the items of a domain; none before its first write. */
  getItems(domain: Domain): ReadonlyMap<ItemKey, Value> {
    return this.#memory.domains.get(domain)?.items ?? new Map()
  }

  /** Lists the items of all domains that have any. */
  listConfigured(): [Domain, ReadonlyMap<ItemKey, Value>][] {
    return [...this.#memory.domains].flatMap(([domain, { items }]) =>
      items.size === 0 ? [] : [[domain, items]],
    )
  }

  /**
   * Stores the resulting items of a write for all its domains at once, and returns their ids. The
   * write counts against the call rate.
   */
  configure(
    domains: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Value>>,
    now: number,
  ): { id: string; domain: Domain }[] {
    let known = this.#memory.domains.size
    const changed = [...domains].map(([domain, items]) => {
      const data = this.#memory.domains.get(domain)
      return {
        domain,
        id: this.#options.extended === true ? this.getId(domain) : (data?.id ?? String(++known)),
        items: listChangedItems(data?.items ?? new Map(), items),
      }
    })
    const changes = Object.fromEntries(
      changed.map(({ domain, id, items }) => [domain, { id, items }]),
    )
    this.#log.commit({
      ...this.#buildCountedChange(now),
      domains: changes,
      ...(this.#options.extended === true ? { account: { touched: [...domains.keys()] } } : {}),
    })
    return changed.map(({ domain, id }) => ({ id, domain }))
  }

  /** Counts a write that changes nothing. */
  countWrite(now: number): void {
    const change = this.#buildCountedChange(now)
    if (change.counted === true) this.#log.commit(change)
  }

  /** Whether there is a call rate. */
  get isLimited(): boolean {
    return this.#options.callsPerMinute > 0
  }

  /** Returns the state of the call rate of writes. */
  getCallCount(now: number): CallCount {
    return countCalls(this.#memory.writeTimes, this.#options.callsPerMinute, now)
  }

  #buildCountedChange(now: number): MemoryChange {
    return this.#options.callsPerMinute === 0 ? { at: now } : { at: now, counted: true }
  }

  /** Returns the conditions of the requests of a domain over time. */
  getHistory(domain: Domain): History {
    return { behaviour: this.#memory.domains.get(domain)?.behaviour ?? [], dead: this.#listDead() }
  }

  /** Lists the origins that do not answer. */
  listDeadOrigins(): string[] {
    return this.#memory.dead.at(-1)?.[1] ?? this.#options.deadOrigins
  }

  /** Sets the origins that do not answer from `now` on; all others do. */
  setDeadOrigins(dead: string[], now: number): void {
    this.#log.commit({ at: now, dead })
  }

  #listDead(): Timeline<ReadonlySet<string>> {
    const beginning = [-Infinity, this.#options.deadOrigins] as const
    return [beginning, ...this.#memory.dead].map(([from, addresses]) => [from, new Set(addresses)])
  }

  /** Reports whether all origins of a domain failed at a time. */
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

  /**
   * Submits URLs to the task of this id, or to a new one, and returns the id of the task.
   *
   * @param options `type` for refreshes, and the maximum number of records kept
   */
  submitPrefetch(
    urls: string[],
    task: number | undefined,
    now: number,
    options: { type?: RefreshType; max?: number } = {},
  ): number {
    const id = task ?? this.#memory.nextTask
    this.#log.commit({ at: now, prefetch: { task: id, urls, ...options } })
    return id
  }

  /** Lists the prefetch records kept at `now`, oldest first. */
  listPrefetches(now: number): Prefetch[] {
    return this.#memory.prefetches.filter(({ createdAt }) => now - createdAt < prefetchRetentionMs)
  }

  /** Lists the last calls, oldest first. */
  listCalls(): readonly Call[] {
    return this.#calls
  }

  addCall(call: Call): void {
    this.#calls.push(call)
    if (this.#calls.length > maxCallsKept) this.#calls.shift()
  }

  /** Forgets everything except the existing domains. */
  reset(now: number): void {
    this.#log.commit({ at: now, reset: true })
    this.#calls = []
    this.account.forgetKeys()
  }
}

/** Lists the items that a write changed; null for those that it cleared. */
function listChangedItems(
  before: ReadonlyMap<ItemKey, Value>,
  after: ReadonlyMap<ItemKey, Value>,
): Record<ItemKey, Value | null> {
  const changed = [...after].filter(([item, value]) => before.get(item) !== value)
  const emptied = [...before.keys()].filter((item) => !after.has(item))
  return Object.fromEntries([...changed, ...emptied.map((item) => [item, null] as const)])
}
