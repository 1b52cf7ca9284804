import type { CallLedger, OtherCalls, TimedCalls } from '../../src/core/model/call-ledger.ts'
import { CallBudget } from '../../src/service/write/call-budget.ts'
import type { CallLimit } from '../../src/service/write/next-call.ts'
import { createSerialQueue } from '../../src/state/store/serial-queue.ts'
import { FakeClock } from './fake-clock.ts'

const minute = 60_000
/** How long a process counts as waiting, as in PostgreSQL, ms. */
const waitingMs = 5000

/** A process of the simulation; times in ms. */
export interface SimulatedProcess {
  /** Round trip to the database. */
  tripMs: number
  /** Time of a call to the service. */
  callMs: number
  /** Number of calls that it wants to make. */
  calls: number
  /** When it begins. */
  startMs?: number
  /** When it is killed. */
  killedMs?: number
  burst?: CallLimit
  callsPerMinute?: number
}

interface Row {
  calls: TimedCalls[]
  wanted: number
  from: number
  until: number
}

/** A ledger like that in PostgreSQL: what it costs are round trips, and waits for the lock. */
export class MemoryLedger {
  readonly #rows = new Map<number, Row>()
  readonly #lock = createSerialQueue()
  readonly #clock: FakeClock
  /** Number of transactions. */
  transactions = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  /** Opens it for a process. */
  open(owner: number, tripMs: number): CallLedger {
    const queue = createSerialQueue()
    let recording: Promise<void> | null = null
    const travel = (trips: number) => this.#clock.sleep(tripMs * trips)
    const find = () =>
      this.#rows.get(owner) ?? { calls: [], wanted: 0, from: -Infinity, until: -Infinity }
    const set = (row: Partial<Row>) => this.#rows.set(owner, { ...find(), ...row })
    return {
      load: async (wanted) => {
        this.transactions++
        const now = this.#clock.time
        // Begin, and the first statement on its way.
        await travel(1.5)
        if (wanted !== undefined) {
          const from = Math.max(now, this.#clock.time) + wanted.inMs
          set({ wanted: wanted.count, from, until: this.#clock.time + waitingMs })
        }
        await travel(1)
        const others = this.#list(owner)
        await travel(0.5)
        return others
      },
      reserve: (own, allows, wanted) =>
        queue(async () => {
          this.transactions++
          await travel(1.5)
          return this.#lock(async () => {
            await travel(1)
            const others = this.#list(owner)
            await travel(0.5)
            const isAllowed = allows(others)
            if (isAllowed) {
              const calls = own()
              await travel(1)
              set({ calls, wanted, from: this.#clock.time, until: this.#clock.time + waitingMs })
            }
            await travel(0.5)
            return isAllowed
          }).then(async (isAllowed) => {
            await travel(0.5)
            return isAllowed
          })
        }),
      record: (own) => {
        recording ??= queue(async () => {
          recording = null
          this.transactions++
          const calls = own()
          await travel(1.5)
          set({ calls })
          await travel(1.5)
        })
        return recording
      },
    }
  }

  #list(owner: number): OtherCalls {
    const now = this.#clock.time
    const others = [...this.#rows].filter(([each]) => each !== owner).map(([, row]) => row)
    const listCalls = ({ calls }: Row) => calls.filter(({ time }) => time > now - minute)
    return {
      calls: others.flatMap(listCalls),
      waiting: others
        .filter(({ until }) => until > now)
        .map((row) => ({
          used: listCalls(row).reduce((sum, { count }) => sum + count, 0),
          wanted: row.wanted,
          from: row.from,
          until: row.until,
        })),
    }
  }
}

/** What a simulation has counted; times in ms from its start. */
export interface SharedRun {
  /** Arrivals at the service, by process, ascending. */
  arrivals: number[][]
  /** Transactions with the database. */
  transactions: number
}

/** Lets processes share the call rate of 30 a minute, each with four workers, without real time. */
export async function simulateSharing(
  processes: SimulatedProcess[],
  endMs: number,
): Promise<SharedRun> {
  const clock = new FakeClock()
  const start = clock.time
  const ledger = new MemoryLedger(clock)
  const stop = new AbortController()
  const run = async (process: SimulatedProcess, owner: number): Promise<number[]> => {
    const { tripMs, callMs, startMs = 0, killedMs = Infinity, burst = null } = process
    await clock.sleep(startMs)
    const arrivals: number[] = []
    const isDead = () => stop.signal.aborted || clock.time - start >= killedMs
    const opened = ledger.open(owner, tripMs)
    const { callsPerMinute = 30 } = process
    const none = async () => undefined
    const budget = new CallBudget(callsPerMinute, 300_000, clock, [], none, 40_000, opened, burst)
    let rest = process.calls
    const killed = new AbortController()
    if (killedMs < Infinity) void clock.sleep(killedMs - startMs).then(() => killed.abort())
    const signal = AbortSignal.any([stop.signal, killed.signal])
    const work = async () => {
      while (rest-- > 0 && (await budget.acquire(signal)) && !isDead()) {
        await clock.sleep(callMs / 2)
        arrivals.push(clock.time - start)
        await clock.sleep(callMs / 2)
        // A killed process does not tell that its calls have ended.
        if (isDead()) return
        await budget.release(true)
      }
    }
    await Promise.all(Array.from({ length: 4 }, work))
    if (!isDead()) await budget.end()
    return arrivals
  }
  void clock.sleep(endMs).then(() => stop.abort())
  const arrivals = await clock.drive(Promise.all(processes.map(run)))
  return { arrivals, transactions: ledger.transactions }
}

/** Counts arrivals from one time to another. */
export function countBetween(arrivals: number[], from: number, to: number): number {
  return arrivals.filter((time) => time >= from && time < to).length
}

/**
 * Computes the share of the possible rate: the first thirty calls as fast as they were, each later
 * one a minute after the thirtieth before it.
 */
export function computeRateShare(run: SharedRun): number {
  const times = run.arrivals.flat().toSorted((a, b) => a - b)
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const possible = (times[(times.length - 1) % 30] ?? 0) - first
  return (possible + Math.floor((times.length - 1) / 30) * minute) / (last - first)
}
