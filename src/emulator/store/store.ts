import { callCount, recentCalls, type CallCount } from '../entities/call-window.ts'
import { callsKept, type Call } from '../entities/call.ts'
import type { DomainRecords } from '../entities/domain-record.ts'
import type { Domain, ItemKey, Value } from '../../model/item.ts'

/** What outlives the process, where a data file is given. */
export interface Saved {
  domains: DomainRecords
  /** When the calls of the last minute were counted, in milliseconds. */
  writeTimes: number[]
}

export interface StoreOptions {
  /** Domains that exist; null: every well-formed one does. */
  domains: ReadonlySet<Domain> | null
  callsPerMinute: number
  saved: Saved
  /** Makes what is saved durable; throws when that fails. */
  save: (saved: Saved) => void
}

/** Everything that the service remembers. Changes are durable after `flush`. */
export class Store {
  readonly #options: StoreOptions
  #domains: DomainRecords
  #writeTimes: number[]
  #calls: Call[] = []
  #changed = false

  constructor(options: StoreOptions) {
    this.#options = options
    this.#domains = new Map(options.saved.domains)
    this.#writeTimes = [...options.saved.writeTimes]
  }

  /** Whether a (well-formed, lower-case) domain exists at the service. */
  knows(domain: Domain): boolean {
    return this.#options.domains === null || this.#options.domains.has(domain)
  }

  /** What a domain holds; nothing before its first write. */
  itemsOf(domain: Domain): ReadonlyMap<ItemKey, Value> {
    return this.#domains.get(domain)?.items ?? new Map()
  }

  /** Everything that is held; domains without items are left out. */
  held(): [Domain, ReadonlyMap<ItemKey, Value>][] {
    return [...this.#domains].flatMap(([domain, { items }]) => (items.size === 0 ? [] : [[domain, items]]))
  }

  /** Takes over what a write made of its domains, all at once, and says their ids. */
  configure(domains: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Value>>): { id: string; domain: Domain }[] {
    this.#changed = true
    return [...domains].map(([domain, items]) => {
      const id = this.#domains.get(domain)?.id ?? String(this.#domains.size + 1)
      this.#domains.set(domain, { id, items })
      return { id, domain }
    })
  }

  /** How the call rate of writes stands. */
  writeCount(now: number): CallCount {
    return callCount(this.#writeTimes, this.#options.callsPerMinute, now)
  }

  /** Counts a write. False, and nothing counted, when the minute has no call left. */
  countWrite(now: number): boolean {
    if (this.#options.callsPerMinute === 0) return true
    if (this.writeCount(now).remaining === 0) return false
    this.#writeTimes = [...recentCalls(this.#writeTimes, now), now]
    this.#changed = true
    return true
  }

  /** The last calls, oldest first. */
  calls(): readonly Call[] {
    return this.#calls
  }

  addCall(call: Call): void {
    this.#calls.push(call)
    if (this.#calls.length > callsKept) this.#calls.shift()
  }

  /** Forgets everything but which domains exist. */
  reset(): void {
    this.#domains = new Map()
    this.#writeTimes = []
    this.#calls = []
    this.#changed = true
  }

  /** Makes durable what changed since the last time. Where that fails, the next call tries again. */
  flush(): void {
    if (!this.#changed) return
    this.#options.save({ domains: this.#domains, writeTimes: this.#writeTimes })
    this.#changed = false
  }
}
