import { filterRecentCalls } from '../entities/call.ts'
import { draw, hashKey } from '../entities/chance.ts'
import type { Fault, FaultKind } from '../entities/fault.ts'

/** Properties of a call by which faults select it. */
export interface FaultyCall {
  write: boolean
  domains: string[]
  items: string[]
}

/** Kinds that affect writes only. */
const writeKinds: FaultKind[] = ['rate', 'refuse', 'partial', 'rewrite']

/** The configured faults, and the number of calls that each has met. */
export class FaultPlan {
  readonly #seed: string
  readonly #initial: Fault[]
  #faults: { fault: Fault; met: number; begun: boolean }[] = []
  /** Times of the writes that a `rate` fault admitted. */
  #admitted: number[] = []

  constructor(seed: string, initial: Fault[]) {
    this.#seed = seed
    this.#initial = initial
    this.reset()
  }

  /** Whether no faults are configured; calls need no inspection then. */
  get isEmpty(): boolean {
    return this.#faults.length === 0
  }

  /** Replaces the faults and restarts the count of calls. */
  replace(faults: Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, met: 0, begun: false }))
    this.#admitted = []
  }

  /** Restores the initial faults. */
  reset(): void {
    this.replace(this.#initial)
  }

  /** Returns the faults of the next call, in their order. */
  next(call: FaultyCall): Fault[] {
    return this.#faults.flatMap((entry, i) => {
      const { fault } = entry
      if (!isConcerned(fault, call)) return []
      entry.met += 1
      const hit = this.#isChosen(fault, i, entry.met)
      if (fault.kind !== 'unauthorized-from') return hit ? [fault] : []
      entry.begun ||= hit
      return entry.begun ? [fault] : []
    })
  }

  /**
   * Reports whether one more write at `now` is within a limit lower than the announced one, and
   * counts it if so.
   */
  admit(limit: number, now: number): boolean {
    const recent = filterRecentCalls(this.#admitted, now)
    if (recent.length >= limit) return false
    this.#admitted = [...recent, now]
    return true
  }

  #isChosen({ kind, on, probability }: Fault, index: number, number: number): boolean {
    if (on !== undefined) return on.includes(number)
    return (
      probability === undefined ||
      draw(hashKey(this.#seed, 'fault', kind, String(index)), number) < probability
    )
  }
}

function isConcerned(
  { kind, domain, item }: Fault,
  { write, domains, items }: FaultyCall,
): boolean {
  if (writeKinds.includes(kind) && !write) return false
  return (
    (domain === undefined || domains.includes(domain)) &&
    (item === undefined || items.includes(item))
  )
}
