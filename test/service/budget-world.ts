import { CallBudget } from '../../src/service/write/call-budget.ts'
import { FakeClock } from './fake-clock.ts'

export const minute = 60_000

export interface Traffic {
  limit: number
  workers: number
  /** Per call: ms from the send to the service's door, and from there back. */
  calls: { out: number; back: number }[]
  /** Ages of the calls of earlier processes, ms. */
  earlier: number[]
  /** After so many ms of true time the wall clock is set by so many ms. */
  steps?: { after: number; by: number }[]
  /** True time after which the process dies and another one takes over, ms. */
  killedAfter?: number
}

/**
 * When each call came to the service's door, in true time, ascending; calls of earlier processes
 * included.
 */
export async function simulateArrivals(traffic: Traffic): Promise<number[]> {
  const clock = new FakeClock()
  const start = clock.time
  const arrivals = traffic.earlier.map((age) => start - age)
  const calls = [...traffic.calls]
  let remembered = arrivals
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
    const budget = new CallBudget(traffic.limit, Infinity, clock, remembered, async (times) => {
      if (own === generation) remembered = [...times]
    })
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

/** The most arrivals that any 60 seconds see. */
export function maxPerMinute(arrivals: number[]): number {
  return Math.max(
    0,
    ...arrivals.map(
      (start) => arrivals.filter((time) => time >= start && time < start + minute).length,
    ),
  )
}
