import { describe, expect, it } from 'vitest'
import { CallBudget } from '../../src/service/write/call-budget.ts'
import {
  type BudgetWait,
  type CallLimit,
  sumCounts,
  type EndedCalls,
} from '../../src/service/write/next-call.ts'
import { countEach, simulateArrivals, minute, maxPerMinute, maxPerWindow } from './budget-world.ts'
import { FakeClock } from './fake-clock.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

function createBudget(
  options: {
    limit?: number
    longest?: number
    clock?: FakeClock
    earlier?: number[]
    burst?: CallLimit
  } = {},
) {
  const clock = options.clock ?? new FakeClock()
  const saved: EndedCalls[][] = []
  const budget = new CallBudget(
    options.limit ?? 30,
    options.longest ?? 300_000,
    clock,
    countEach(options.earlier ?? []),
    async (ended) => {
      saved.push([...ended])
    },
    0,
    null,
    options.burst ?? null,
  )
  /** Sends a call that is answered at once. */
  const call = async (limits?: { remaining: number | null; resetMs: number | null }) => {
    const taken = await budget.acquire()
    if (taken) await budget.release(true, limits)
    return taken
  }
  return { clock, budget, saved, call }
}

const delay = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90_000 }))
const traffic = fc.record({
  limit: fc.integer({ min: 1, max: 8 }),
  workers: fc.integer({ min: 1, max: 4 }),
  calls: fc.array(fc.record({ out: delay, back: delay }), { minLength: 1, maxLength: 30 }),
  earlier: fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 8 }),
})

describe('arrivals in any 60 seconds stay within the limit', () => {
  const sound = async (given: Parameters<typeof simulateArrivals>[0]) => {
    const own =
      given.earlier.length <= given.limit
        ? given
        : { ...given, earlier: given.earlier.slice(0, given.limit) }
    expect(maxPerMinute(await simulateArrivals(own))).toBeLessThanOrEqual(own.limit)
  }

  itOften('for any behaviour of the network', () =>
    fc.assert(fc.asyncProperty(traffic, sound), { numRuns: runs(45, 1_350) }),
  )

  itOften('when the wall clock is set back', () => {
    const steps = fc.array(
      fc.record({
        after: fc.integer({ min: 0, max: 200_000 }),
        by: fc.integer({ min: -7_200_000, max: 0 }),
      }),
      {
        maxLength: 3,
      },
    )
    return fc.assert(
      fc.asyncProperty(traffic, steps, (given, set) => sound({ ...given, steps: set })),
      { numRuns: runs(30, 900) },
    )
  })

  it('when the wall clock is set forward', async () => {
    const calls = Array.from({ length: 60 }, () => ({ out: 50, back: 50 }))
    await sound({ limit: 30, workers: 4, calls, earlier: [], steps: [{ after: 450, by: 61_000 }] })
  })

  itLong('when the process dies and another continues with the stored times', () => {
    const prompt = fc.record({
      ...buildArbitraries(),
      calls: fc.array(fc.record({ out: fc.constant(0), back: delay }), {
        minLength: 1,
        maxLength: 30,
      }),
    })
    return fc.assert(
      fc.asyncProperty(prompt, fc.integer({ min: 0, max: 150_000 }), (given, killedAfter) =>
        sound({ ...given, killedAfter }),
      ),
      { numRuns: runs(30, 900) },
    )
  })

  it('when the process dies with a call in flight', () =>
    sound({
      limit: 1,
      workers: 1,
      calls: [
        { out: 20_000, back: 10_000 },
        { out: 0, back: 0 },
      ],
      earlier: [],
      killedAfter: 25_000,
    }))

  itLong('when many calls are saved at once and the process dies', () => {
    const many = fc.record({
      limit: fc.integer({ min: 200, max: 400 }),
      workers: fc.integer({ min: 1, max: 4 }),
      calls: fc.constant(Array.from({ length: 900 }, () => ({ out: 0, back: 90 }))),
      earlier: fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 200 }),
    })
    return fc.assert(
      fc.asyncProperty(many, fc.integer({ min: 0, max: 150_000 }), (given, killedAfter) =>
        sound({ ...given, killedAfter }),
      ),
      { numRuns: runs(3, 90) },
    )
  })

  it('with all 30 calls over a real network', async () => {
    const calls = Array.from({ length: 100 }, (_, i) => ({
      out: (i * 37) % 900,
      back: (i * 91) % 1500,
    }))
    const arrivals = await simulateArrivals({ limit: 30, workers: 4, calls, earlier: [] })
    expect(maxPerMinute(arrivals)).toBe(30)
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeLessThan(5 * minute)
  })
})

function buildArbitraries() {
  return {
    limit: fc.integer({ min: 1, max: 8 }),
    workers: fc.integer({ min: 1, max: 4 }),
    earlier: fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 8 }),
  }
}

describe('waiting', () => {
  it('is not needed for the first 30', async () => {
    const { clock, budget, call } = createBudget()
    expect(budget.countAvailable()).toBe(30)
    const start = clock.time
    for (let n = 0; n < 30; n++) expect(await call()).toBe(true)
    expect(clock.time).toBe(start)
    expect(clock.slept).toEqual([])
    expect(budget.countAvailable()).toBe(0)
    expect(await clock.drive(call())).toBe(true)
    expect(clock.time).toBe(start + minute)
  })

  it('ends when the oldest call is a minute old; earlier calls count', async () => {
    const clock = new FakeClock()
    const earlier = Array.from({ length: 30 }, (_, i) => clock.time - 59_000 + i * 100)
    const { call } = createBudget({ clock, earlier })
    const start = clock.time
    await clock.drive(call())
    expect(clock.time - start).toBe(1000)
    await clock.drive(call())
    expect(clock.time - start).toBe(1100)
  })

  it('ignores earlier calls that are a minute old, and counts future ones as made now', () => {
    const clock = new FakeClock()
    expect(
      createBudget({
        clock,
        limit: 2,
        earlier: [clock.time - minute, clock.time - minute - 1],
      }).budget.countAvailable(),
    ).toBe(2)
    const ahead = createBudget({ clock, limit: 2, earlier: [clock.time + 1_000_000] })
    expect(ahead.budget.countAvailable()).toBe(1)
    expect(
      createBudget({ clock, limit: 1, earlier: [clock.time + 1_000_000] }).budget.computeWaitMs(),
    ).toBe(minute)
  })

  it('counts calls in flight of a dead process from their latest arrival', async () => {
    const clock = new FakeClock()
    let kept: EndedCalls[] = []
    const remember = async (ended: EndedCalls[]) => {
      kept = ended
    }
    await new CallBudget(1, Infinity, clock, [], remember).acquire()
    await clock.advance(500)
    expect(new CallBudget(1, Infinity, clock, kept, remember, 10_000).computeWaitMs()).toBe(
      10_000 + minute,
    )
    expect(
      new CallBudget(
        1,
        Infinity,
        clock,
        countEach([clock.time - 500]),
        remember,
        10_000,
      ).computeWaitMs(),
    ).toBe(minute - 500)
  })

  it('ends after a minute even if the clock is set back an hour', async () => {
    const { clock, call } = createBudget({ limit: 1 })
    await call()
    clock.offset = -3_600_000
    const start = clock.time
    expect(await clock.drive(call())).toBe(true)
    expect(clock.time - start).toBeLessThanOrEqual(minute)
  })

  it('over the maximum is refused immediately, and no call is acquired', async () => {
    const { clock, budget, call, saved } = createBudget({ limit: 1, longest: 59_999 })
    await call()
    const kept = saved.length
    expect(await clock.drive(budget.acquire())).toBe(false)
    expect(clock.slept).toEqual([])
    expect(saved).toHaveLength(kept)
    await clock.advance(1)
    expect(await clock.drive(budget.acquire())).toBe(true)
  })

  it('is reported once for all callers that wait, and again in the next minute', async () => {
    const { clock, budget } = createBudget({ limit: 2 })
    const reported: BudgetWait[] = []
    const call = async () => {
      expect(await budget.acquire(undefined, (wait) => reported.push(wait))).toBe(true)
      await budget.release(true)
    }
    await clock.drive(Promise.all(Array.from({ length: 5 }, call)))
    expect(reported).toEqual([
      { ms: minute, used: 2, windowMs: minute, period: null },
      { ms: minute, used: 2, windowMs: minute, period: null },
    ])
  })

  it('is reported as one of the service if the service allows no more calls', async () => {
    const { clock, budget, call } = createBudget({ limit: 2 })
    const reported: BudgetWait[] = []
    await call({ remaining: 0, resetMs: 42_000 })
    await clock.drive(budget.acquire(undefined, (wait) => reported.push(wait)))
    expect(reported).toEqual([{ ms: 42_000, used: 1, windowMs: minute, period: 'minute' }])
  })

  it('ends immediately when interrupted, for any reason', async () => {
    const interrupt = new AbortController()
    const byTime = createBudget({ limit: 1 })
    await byTime.call()
    const byCall = createBudget({ limit: 1 })
    await byCall.budget.acquire()
    let [first, second]: (boolean | undefined)[] = []
    void byTime.budget.acquire(interrupt.signal).then((taken) => (first = taken))
    void byCall.budget.acquire(interrupt.signal).then((taken) => (second = taken))
    await byTime.clock.settle()
    expect([first, second]).toEqual([undefined, undefined])
    interrupt.abort()
    await byTime.clock.settle()
    expect(first, 'a wait for the minute').toBe(false)
    expect(second, 'a wait for a running call').toBe(false)
    expect(await createBudget().budget.acquire(interrupt.signal)).toBe(false)
  })

  it('acquires nothing if interrupted', async () => {
    const interrupt = new AbortController()
    const { budget } = createBudget({ limit: 1 })
    interrupt.abort()
    expect(await budget.acquire(interrupt.signal)).toBe(false)
    expect(budget.countAvailable()).toBe(1)
  })
})

describe('a high call rate', () => {
  itLong('is kept with few entries, which never count a call too early', async () => {
    const clock = new FakeClock()
    let kept: EndedCalls[] = []
    const budget = new CallBudget(20_000, Infinity, clock, [], async (ended) => {
      kept = ended
    })
    const ended: number[] = []
    for (let i = 0; i < 3000; i++) {
      await budget.acquire()
      await budget.release(true)
      ended.push(clock.time)
      await clock.advance(7)
    }
    expect(kept.length).toBeLessThanOrEqual(601)
    expect(budget.countAvailable()).toBe(17_000)
    const whole = new CallBudget(3000, Infinity, clock, kept, async () => undefined)
    // The oldest calls ended within 100 ms after the start; at most 200 are saved ahead.
    const waitMs = whole.computeWaitMs() ?? 0
    expect(waitMs).toBeGreaterThanOrEqual(minute - 3000 * 7)
    expect(waitMs).toBeLessThanOrEqual(minute - 3000 * 7 + 100 + 200 * 7)
    await clock.advance(minute - 3000 * 7)
    for (let i = 0; i < 100; i++) {
      const counted = ended.filter((time) => time > clock.time - minute).length
      expect(budget.countAvailable()).toBeLessThanOrEqual(20_000 - counted)
      await clock.advance(3)
    }
  })

  it('saves a hundredth of its calls at once, and counts them until they are used', async () => {
    const { clock, budget, call, saved } = createBudget({ limit: 1000 })
    for (let i = 0; i < 10; i++) await call()
    expect(saved.length).toBe(1)
    const next = new CallBudget(1000, Infinity, clock, saved.at(-1) ?? [], async () => undefined)
    expect(next.countAvailable()).toBe(990)
    await call()
    expect(saved.length).toBe(2)
    expect(budget.countAvailable()).toBe(989)
  })

  it('saves at least every second, and less ahead if the rate has less left', async () => {
    const clock = new FakeClock()
    const earlier = Array.from({ length: 995 }, () => clock.time)
    const { call, saved } = createBudget({ clock, limit: 1000, earlier })
    for (let i = 0; i < 3; i++) {
      await call()
      await clock.advance(1000)
    }
    const other = createBudget({ clock, limit: 1000 })
    for (let i = 0; i < 3; i++) {
      await other.call()
      await clock.advance(1000)
    }
    const counts = [saved, other.saved].map((lists) => lists.map((ended) => sumCounts(ended)))
    expect(counts).toEqual([
      [996, 997, 998],
      [10, 11, 12],
    ])
  })

  it('counts many calls of earlier processes by one entry', () => {
    const clock = new FakeClock()
    const budget = new CallBudget(
      100_000,
      Infinity,
      clock,
      [{ time: clock.time, count: 99_999 }],
      async () => undefined,
    )
    expect(budget.countAvailable()).toBe(1)
  })
})

describe('the call count of the service', () => {
  it('without remaining calls, nothing is sent before the reset', async () => {
    const { clock, budget, call } = createBudget()
    await call({ remaining: 0, resetMs: 45_000 })
    const start = clock.time
    expect(budget.countAvailable()).toBe(0)
    await clock.drive(call())
    expect(clock.time - start).toBe(45_000)
  })

  it('limits the calls before the reset to the remaining ones', async () => {
    const { clock, call } = createBudget()
    await call({ remaining: 3, resetMs: 20_000 })
    const start = clock.time
    for (let n = 0; n < 3; n++) await clock.drive(call())
    expect(clock.time - start).toBe(0)
    await clock.drive(call())
    expect(clock.time - start).toBe(20_000)
  })

  it('includes calls in flight in the remaining ones', async () => {
    const { budget } = createBudget()
    for (let n = 0; n < 3; n++) await budget.acquire()
    await budget.release(true, { remaining: 2, resetMs: 20_000 })
    expect(budget.computeWaitMs()).toBe(20_000)
  })

  it('wakes waiting calls immediately: answers of calls in flight may free some', async () => {
    const { clock, budget } = createBudget()
    for (let n = 0; n < 3; n++) await budget.acquire()
    // The service had counted two of the three already.
    await budget.release(true, { remaining: 2, resetMs: 57_000 })
    const next = budget.acquire()
    const start = clock.time
    await budget.release(true, { remaining: 2, resetMs: 57_000 })
    await budget.release(true, { remaining: 2, resetMs: 57_000 })
    expect(await clock.drive(next)).toBe(true)
    expect(clock.time - start).toBe(0)
  })

  it('refuses no wait that a call in flight may shorten', async () => {
    const { clock, budget } = createBudget()
    for (let n = 0; n < 2; n++) await budget.acquire()
    await budget.release(true, { remaining: 1, resetMs: 301_000 })
    const next = budget.acquire()
    await clock.settle()
    await budget.release(true, { remaining: 1, resetMs: 301_000 })
    expect(await clock.drive(next)).toBe(true)
  })

  it('does not override the stricter own count', async () => {
    const { clock, call } = createBudget({ limit: 2 })
    const start = clock.time
    for (let n = 0; n < 3; n++) await clock.drive(call({ remaining: 1_000_000, resetMs: 0 }))
    expect(clock.time - start).toBe(minute)
  })

  it('without a reset time applies for a minute', async () => {
    const { budget, call } = createBudget()
    await call({ remaining: 0, resetMs: null })
    expect(budget.computeWaitMs()).toBe(minute)
  })

  it('refuses a reset that is too far away', async () => {
    const { budget, call } = createBudget()
    await call({ remaining: 0, resetMs: 301_000 })
    expect(await budget.acquire()).toBe(false)
  })
})

describe('the stored times', () => {
  it('include calls in flight, and are stored before a call is sent', async () => {
    const { clock, budget, saved } = createBudget()
    await budget.acquire()
    expect(saved.at(-1)).toHaveLength(1)
    await clock.advance(500)
    await budget.release(true)
    expect(saved.at(-1)).toEqual(countEach([clock.now()]))
    await clock.advance(minute)
    await budget.acquire()
    await budget.release(true)
    expect(saved.at(-1)).toHaveLength(1)
  })

  it('exclude calls that never arrived', async () => {
    const { budget, saved } = createBudget({ limit: 1 })
    await budget.acquire()
    await budget.release(false)
    expect(saved.at(-1)).toEqual([])
    expect(budget.countAvailable()).toBe(1)
  })
})

it('a call in flight when its process died is not delayed by each later process', async () => {
  const clock = new FakeClock()
  const inFlight = [{ time: clock.monotonic() + minute, count: 1 }]
  const waitNow = () =>
    new CallBudget(1, 300_000, clock, inFlight, async () => {}, 40_000).computeWaitMs()
  expect(waitNow()).toBe(100_000)
  await clock.advance(50_000)
  expect(waitNow()).toBe(70_000)
})

describe('a burst limit', () => {
  const burst = { calls: 3, windowMs: 10_000 }

  itOften('holds for the arrivals in any of its windows, beside the limit of a minute', () =>
    fc.assert(
      fc.asyncProperty(traffic, fc.integer({ min: 1, max: 4 }), async (given, calls) => {
        const own = { ...given, earlier: [], burst: { calls, windowMs: 2000 } }
        const arrivals = await simulateArrivals(own)
        expect(maxPerWindow(arrivals, 2000)).toBeLessThanOrEqual(calls)
        expect(maxPerMinute(arrivals)).toBeLessThanOrEqual(own.limit)
      }),
      { numRuns: runs(20, 900) },
    ),
  )

  it('delays only the calls beyond it', async () => {
    const { clock, call } = createBudget({ limit: 8, burst })
    const start = clock.time
    const times: number[] = []
    const done = async () => {
      for (let i = 0; i < 9; i++) {
        await call()
        times.push((clock.time - start) / 1000)
      }
    }
    await clock.drive(done())
    expect(times).toEqual([0, 0, 0, 10, 10, 10, 20, 20, 60])
  })

  it('counts the calls of an earlier process', () => {
    const clock = new FakeClock()
    const earlier = [clock.time - 12_000, clock.time - 4000, clock.time - 3000, clock.time - 1000]
    const { budget } = createBudget({ clock, earlier, burst })
    expect(budget.computeWaitMs()).toBe(6000)
  })

  it('is named in its wait', async () => {
    const { clock, budget, call } = createBudget({ burst })
    const waits: BudgetWait[] = []
    const work = async () => {
      for (let i = 0; i < 3; i++) await call()
      await budget.acquire(undefined, (wait) => waits.push(wait))
    }
    await clock.drive(work())
    expect(waits).toEqual([{ ms: 10_000, used: 3, windowMs: 10_000, period: null }])
  })
})
