import { filterRecentCalls } from '../entities/call-window.ts'
import { draw, hashKey } from '../entities/chance.ts'
import type { Fault, FaultKind } from '../entities/fault.ts'

/** What a call is, as far as faults choose by it. */
export interface FaultyCall {
  write: boolean
  domains: string[]
  items: string[]
}

/** Kinds that say something about writes only. */
const ofWrites: FaultKind[] = ['rate', 'refuse', 'partial', 'rewrite']

/** The faults that are wanted, and which calls they have met so far. */
export class FaultPlan {
  readonly #seed: string
  readonly #initial: Fault[]
  #faults: { fault: Fault; met: number; begun: boolean }[] = []
  /** Writes that a `rate` fault let through. */
  #admitted: number[] = []

  constructor(seed: string, initial: Fault[]) {
    this.#seed = seed
    this.#initial = initial
    this.reset()
  }

  /** Whether there are any; without them no call has to be looked at. */
  get isEmpty(): boolean {
    return this.#faults.length === 0
  }

  /** Takes other faults from now on, and counts calls anew. */
  replace(faults: Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, met: 0, begun: false }))
    this.#admitted = []
  }

  /** Goes back to the faults of the beginning. */
  reset(): void {
    this.replace(this.#initial)
  }

  /** The faults that happen to the next call, in their order. */
  next(call: FaultyCall): Fault[] {
    return this.#faults.flatMap((entry, i) => {
      const { fault } = entry
      if (!concerns(fault, call)) return []
      entry.met += 1
      const hit = this.#chosen(fault, i, entry.met)
      if (fault.kind !== 'unauthorized-from') return hit ? [fault] : []
      entry.begun ||= hit
      return entry.begun ? [fault] : []
    })
  }

  /**
   * Whether one more write at `now` stays within a limit that is lower than announced; counts it if
   * so.
   */
  admit(limit: number, now: number): boolean {
    const recent = filterRecentCalls(this.#admitted, now)
    if (recent.length >= limit) return false
    this.#admitted = [...recent, now]
    return true
  }

  #chosen({ kind, on, probability }: Fault, index: number, number: number): boolean {
    if (on !== undefined) return on.includes(number)
    return (
      probability === undefined ||
      draw(hashKey(this.#seed, 'fault', kind, String(index)), number) < probability
    )
  }
}

function concerns({ kind, domain, item }: Fault, { write, domains, items }: FaultyCall): boolean {
  if (ofWrites.includes(kind) && !write) return false
  return (
    (domain === undefined || domains.includes(domain)) &&
    (item === undefined || items.includes(item))
  )
}
