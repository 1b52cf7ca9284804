import { createHash } from 'node:crypto'
import { isAcceleratedDomain } from '../../core/catalog/value/formats.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { buildBehaviour, behaviourItems, computeFailingShare } from '../entities/behaviour.ts'
import {
  maxCallsKept,
  type Call,
  countCalls,
  filterRecentCalls,
  type CallCount,
} from '../entities/call.ts'
import { defaultRecord, type DomainRecord } from '../entities/domain-record.ts'
import { prefetchRetentionMs, type Prefetch, type RefreshType } from '../entities/prefetch.ts'
import type { History } from '../entities/statistics.ts'
import { getValueAt, setValueFrom } from '../entities/timeline.ts'
import type { DataFile } from './data-file.ts'
import { createMemory, type Certificate, type Memory } from './memory.ts'

export interface StoreOptions {
  /** Existing domains; null: every well-formed one exists. */
  domains: ReadonlySet<Domain> | null
  callsPerMinute: number
  /** Origins that do not answer initially. */
  deadOrigins: string[]
  /** Whether it records changes of domains, and their ids follow from their names. */
  extended?: boolean
}

type Items = ReadonlyMap<ItemKey, Value>

/** Data of the service. If the method of a change throws, nothing has changed. */
export class Store {
  readonly #options: StoreOptions
  readonly #file: DataFile
  readonly #memory: Memory
  #calls: Call[] = []
  /** Private keys of certificates: a service that has started again no longer knows them. */
  readonly #keys = new Map<number, string>()

  constructor(options: StoreOptions, file: DataFile) {
    this.#options = options
    this.#file = file
    this.#memory = file.memory
  }

  /** Reports whether a (well-formed, lower-case) domain exists at the service. */
  hasDomain(domain: Domain): boolean {
    const { createdAt, removed } = this.getRecord(domain)
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
    const all = new Set([...known, ...this.listRecorded()])
    return [...all].filter((domain) => this.hasDomain(domain))
  }

  /** Returns the id of a domain of an extended service; it never changes. */
  getId(domain: Domain): string {
    return this.#memory.domains.get(domain)?.id ?? computeDomainId(domain)
  }

  /** Returns the items of a domain; none before its first write. */
  getItems(domain: Domain): Items {
    return this.#memory.domains.get(domain)?.items ?? new Map()
  }

  /** Lists the items of all domains that have any. */
  listConfigured(): [Domain, Items][] {
    return [...this.#memory.domains].flatMap(([domain, { items }]) =>
      items.size === 0 ? [] : [[domain, items]],
    )
  }

  /**
   * Stores the resulting items of a write for all its domains at once, and returns their ids. The
   * write counts against the call rate.
   */
  configure(domains: ReadonlyMap<Domain, Items>, now: number): { id: string; domain: Domain }[] {
    this.#file.begin()
    this.#count(now)
    return [...domains].map(([domain, items]) => {
      const next = String(this.#memory.domains.size + 1)
      const known = this.#memory.domains.get(domain)?.id
      const id = this.#options.extended === true ? this.getId(domain) : (known ?? next)
      this.#setItems(domain, id, items, now)
      if (this.#options.extended === true) this.#setRecord(domain, { changedAt: now })
      return { id, domain }
    })
  }

  #setItems(domain: Domain, id: string, items: Items, now: number): void {
    const { items: before, behaviour: timeline = [] } = this.#memory.domains.get(domain) ?? {}
    const minute = Math.floor(now / 60_000)
    const isUnchanged =
      behaviourItems.every((item) => before?.get(item) === items.get(item)) &&
      (timeline.at(-1)?.[0] ?? minute) <= minute
    const behaviour = isUnchanged ? timeline : setValueFrom(timeline, minute, buildBehaviour(items))
    this.#memory.domains.set(domain, { id, items, behaviour })
  }

  /** Counts a write that changes nothing. */
  countWrite(now: number): void {
    if (!this.isLimited) return
    this.#file.begin()
    this.#count(now)
  }

  #count(now: number): void {
    if (!this.isLimited) return
    this.#memory.writeTimes = [...filterRecentCalls(this.#memory.writeTimes, now), now]
  }

  /** Whether there is a call rate. */
  get isLimited(): boolean {
    return this.#options.callsPerMinute > 0
  }

  /** Returns the state of the call rate of writes. */
  getCallCount(now: number): CallCount {
    return countCalls(this.#memory.writeTimes, this.#options.callsPerMinute, now)
  }

  /** Returns the conditions of the requests of a domain over time. */
  getHistory(domain: Domain): History {
    const { deadOrigins } = this.#options
    const dead = [[-Infinity, deadOrigins] as const, ...this.#memory.dead]
    return {
      behaviour: this.#memory.domains.get(domain)?.behaviour ?? [],
      dead: dead.map(([from, addresses]) => [from, new Set(addresses)]),
    }
  }

  /** Lists the origins that do not answer. */
  listDeadOrigins(): string[] {
    return this.#memory.dead.at(-1)?.[1] ?? this.#options.deadOrigins
  }

  /** Sets the origins that do not answer from `now` on; all others do. */
  setDeadOrigins(dead: string[], now: number): void {
    this.#file.begin()
    this.#memory.dead = setValueFrom(this.#memory.dead, Math.floor(now / 60_000), dead)
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
   * @param options `type` for refreshes, and `max` records that are kept, the latest
   */
  submitPrefetch(
    urls: string[],
    task: number | undefined,
    now: number,
    { type, max }: { type?: RefreshType; max?: number } = {},
  ): number {
    this.#file.begin()
    const memory = this.#memory
    const id = task ?? memory.nextTask
    const records = urls.map((url, i) => {
      return { id: memory.nextPrefetch + i, task: id, url, createdAt: now, type }
    })
    const kept = [...this.listPrefetches(now), ...records]
    memory.prefetches = max === undefined ? kept : kept.slice(-max)
    memory.nextPrefetch += records.length
    memory.nextTask = Math.max(memory.nextTask, id + 1)
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
  reset(): void {
    this.#file.begin()
    Object.assign(this.#memory, createMemory())
    this.#calls = []
    this.#keys.clear()
  }

  /** Returns the record of a domain; the default one if nothing is recorded. */
  getRecord(domain: Domain): DomainRecord {
    return this.#memory.records.get(domain) ?? defaultRecord
  }

  /** Lists all domains with a record, removed ones included. */
  listRecorded(): Domain[] {
    return [...this.#memory.records.keys()]
  }

  #setRecord(domain: Domain, changed: Partial<DomainRecord>): void {
    this.#memory.records.set(domain, { ...this.getRecord(domain), ...changed })
  }

  /** Creates a domain of an extended service, with its initial configuration. */
  createDomain(
    domain: Domain,
    kind: Pick<DomainRecord, 'area' | 'type'>,
    items: Items,
    now: number,
  ): void {
    this.#file.begin()
    this.#setItems(domain, this.getId(domain), items, now)
    this.#setRecord(domain, { ...kind, createdAt: now, changedAt: now, removed: false })
  }

  /** Removes domains together with their configurations. */
  removeDomains(domains: Domain[], now: number): void {
    this.#file.begin()
    for (const domain of domains) {
      const id = this.#memory.domains.get(domain)?.id
      if (id !== undefined) this.#setItems(domain, id, new Map(), now)
      this.#setRecord(domain, { changedAt: now, removed: true })
    }
  }

  listCertificates(): Certificate[] {
    return [...this.#memory.certificates.values()]
  }

  /** Returns the private key of a certificate; empty if this process has not received it. */
  getKey(id: number): string {
    return this.#keys.get(id) ?? ''
  }

  /** Stores a certificate, a new one without an id, and returns its id. */
  saveCertificate({ id, ...rest }: Omit<Certificate, 'id'> & { id?: number }, key: string): number {
    this.#file.begin()
    const saved = id ?? this.#memory.nextCertificate
    this.#memory.certificates.set(saved, { id: saved, ...rest })
    this.#memory.nextCertificate = Math.max(this.#memory.nextCertificate, saved + 1)
    this.#keys.set(saved, key)
    return saved
  }

  removeCertificate(id: number): void {
    this.#file.begin()
    this.#memory.certificates.delete(id)
    this.#keys.delete(id)
  }
}

/** Computes an id that follows from the name alone, so that a query need not assign one. */
function computeDomainId(domain: Domain): string {
  const bits = createHash('sha256').update(domain).digest().readUIntBE(0, 6)
  return String(bits + 1)
}
