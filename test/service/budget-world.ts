import { CallBudget } from '../../src/service/write/call-budget.ts'
import type { CallLimit, EndedCalls } from '../../src/service/write/next-call.ts'
import { FakeClock } from './fake-clock.ts'

export const minute = 60_000

export interface Traffic {
  limit: number
  burst?: CallLimit | null
  workers: number
  /** For each call, ms from this machine to the service, and back. */
  calls: { out: number; back: number }[]
  /** Ages of the calls of earlier processes, ms. */
  earlier: number[]
  /** Changes of the wall clock: `by` ms, `after` ms of true time. */
  steps?: { after: number; by: number }[]
  /** True time after which the process dies and another one starts, ms. */
  killedAfter?: number
}

/**
 * Simulates calls and returns the times of their arrivals at the service, in true time, ascending;
 * calls of earlier processes included.
 */
export async function simulateArrivals(traffic: Traffic): Promise<number[]> {
  const clock = new FakeClock()
  const start = clock.time
  const arrivals = traffic.earlier.map((age) => start - age)
  const calls = [...traffic.calls]
  let remembered = countEach(arrivals)
  let generation = 0

  const worker = async (budget: CallBudget, own: number): Promise<void> => {
    while (own === generation && calls.length > 0 && (await budget.acquire())) {
      const call = own === generation ? calls.shift() : undefined
      if (call === undefined) return own === generation ? budget.release(false) : undefined
      await clock.sleep(call.out)
      arrivals.push(clock.time)
      await clock.sleep(call.back)
      if (own === generation) await budget.release(true)
    }
  }
  const process = (): Promise<unknown> => {
    const own = ++generation
    const remember = async (ended: EndedCalls[]) => {
      if (own === generation) remembered = [...ended]
    }
    const { limit, burst = null } = traffic
    const budget = new CallBudget(limit, Infinity, clock, remembered, remember, 0, null, burst)
    return Promise.all(Array.from({ length: traffic.workers }, () => worker(budget, own)))
  }
  const set = (traffic.steps ?? []).map(({ after, by }) =>
    clock.sleep(after).then(() => {
      clock.offset += by
    }),
  )
  const first = process()
  const second =
    traffic.killedAfter === undefined ? first : clock.sleep(traffic.killedAfter).then(process)
  await clock.drive(Promise.all([second, ...set]))
  return arrivals.toSorted((a, b) => a - b)
}

/** Counts one call at each of these times. */
export function countEach(times: number[]): EndedCalls[] {
  return times.map((time) => ({ time, count: 1 }))
}

/** Returns the maximum number of arrivals in any 60 seconds. */
export function maxPerMinute(arrivals: number[]): number {
  return maxPerWindow(arrivals, minute)
}

/** Returns the maximum number of arrivals in any window of this length, ms. */
export function maxPerWindow(arrivals: number[], windowMs: number): number {
  return Math.max(
    0,
    ...arrivals.map(
      (start) => arrivals.filter((time) => time >= start && time < start + windowMs).length,
    ),
  )
}
