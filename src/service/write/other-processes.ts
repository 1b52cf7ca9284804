import type {
  CallLedger,
  OtherCalls,
  WaitingProcess,
  WantedCalls,
} from '../../core/model/call-ledger.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { EndedCalls } from './next-call.ts'

/** The calls and waits of other processes, as last loaded. */
export class OtherProcesses {
  readonly #ledger: CallLedger | null
  readonly #clock: Clock
  #calls: EndedCalls[] = []
  #waiting: WaitingProcess[] = []
  #loading: Promise<void> | null = null

  constructor(ledger: CallLedger | null, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  get calls(): EndedCalls[] {
    return this.#calls
  }

  /** Tests whether other processes may change how long this one has to wait. */
  areThere(): boolean {
    return this.#calls.length > 0 || this.#waiting.length > 0
  }

  /** Finds the calls that others may make before a process with so many in the last minute. */
  findClaims(used: number): EndedCalls[] {
    return findClaims(used, this.#waiting, this.#clock.monotonic())
  }

  /** A call in flight in another process may end at any time: it counts as ended now. */
  #set({ calls, waiting }: OtherCalls): void {
    const now = this.#clock.monotonic()
    this.#calls = calls.map(({ time, count }) => ({ time: Math.min(time, now), count }))
    this.#waiting = waiting
  }

  /** Loads them again, once for all who ask at the same time, and shows that this one waits. */
  async load(wanted: WantedCalls): Promise<void> {
    const ledger = this.#ledger
    if (ledger === null) return
    this.#loading ??= ledger
      .load(wanted)
      .then((others) => this.#set(others))
      .finally(() => (this.#loading = null))
    await this.#loading
  }

  /**
   * Reserves calls of this process in the ledger if the calls of the others allow it; returns
   * whether they do.
   *
   * @param wanted calls that it wants now
   */
  async reserve(own: () => EndedCalls[], allows: () => boolean, wanted: number): Promise<boolean> {
    if (this.#ledger === null) return true
    const look = (others: OtherCalls) => {
      this.#set(others)
      return allows()
    }
    return this.#ledger.reserve(own, look, wanted)
  }

  /** Records the calls of this process in the ledger. */
  async record(own: () => EndedCalls[]): Promise<void> {
    await this.#ledger?.record(own)
  }
}

/** A process that expects a call this soon, ms, counts as waiting: it knows the calls later. */
const soonMs = 2000

/**
 * Finds the calls that others may make first: those of waiting processes with fewer calls of the
 * last minute, up to the number of this one. So the process with the fewest calls is never kept
 * from a free one, and one that can't use it yet, or is gone, keeps no other from it. Each has the
 * time at which the claim ends.
 *
 * @param used calls of this process in the last minute
 */
export function findClaims(used: number, waiting: WaitingProcess[], now: number): EndedCalls[] {
  return waiting
    .filter((other) => other.used < used && other.from <= now + soonMs && other.until > now)
    .map((other) => ({ time: other.until, count: Math.min(other.wanted, used - other.used) }))
}
