import { describe, expect, it } from 'vitest'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'
import { loadEarlierCalls } from '../../src/engine/apply/earlier-calls.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'
import { bad, doubt, good, World, type Step } from './world.ts'

const a = 'a.example.com'
const time = (seconds: number): Value => ({ time: `${seconds}` })
const wanted = (...seconds: number[]): Record<Domain, Record<ItemKey, Value>> =>
  Object.fromEntries(
    seconds.map((each, i) => [`${'abcde'[i] ?? ''}.example.com`, { timeout: time(each) }]),
  )

/** Applies a plan whose process dies while its calls are in flight; they land 39 s after that. */
async function dieInFlight(world: World, plan: ReturnType<World['plan']>): Promise<void> {
  const slow = (_call: number, domains: Domain[]): Step => ({
    outcome: doubt,
    saves: domains,
    ms: 100,
    late: 38_800,
  })
  await die(world, world.start(plan, slow), 50)
}

/** Lets a process run for some time, and kills it. */
async function die(world: World, process: Promise<unknown>, ms: number): Promise<void> {
  const ended = process.catch(() => undefined)
  await world.clock.advance(ms)
  world.diesAt = 0
  await world.clock.drive(ended)
  world.diesAt = Infinity
}

async function runNext(world: World, desired: ReturnType<typeof wanted>, domainsPerWrite = 10) {
  const [start, first] = [world.clock.now(), world.calls.length]
  world.events.length = 0
  await world.apply(world.plan(desired, domainsPerWrite))
  return world.calls.slice(first).map(({ at, domains }) => ({ domains, ms: at - start }))
}

async function expectTrue(world: World, seconds: number): Promise<void> {
  await world.clock.advance(120_000)
  expect(world.truth.get(a)?.get('timeout')).toEqual(time(seconds))
  expect(world.plan(wanted(seconds)).changes).toEqual([])
}

describe('after an apply that died with calls in flight', () => {
  it('a reverted value is sent once the old call can no longer land', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    expect(await runNext(world, wanted(5))).toEqual([{ domains: [a], ms: 40_000 }])
    expect(world.events.find(({ type }) => type === 'write.waiting')).toMatchObject({
      seconds: 40,
      message: 'an earlier call may still change these items',
    })
    await expectTrue(world, 5)
  })

  it('the timeout and settle time of the dead apply count if they are longer', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    world.settleMs = 60_000
    await dieInFlight(world, world.plan(wanted(10)))
    world.settleMs = 1000
    expect(await runNext(world, wanted(5))).toMatchObject([{ ms: 90_000 }])
  })

  it('the present timeout and settle time count if they are longer', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    world.settleMs = 1000
    await dieInFlight(world, world.plan(wanted(10)))
    world.settleMs = 60_000
    expect(await runNext(world, wanted(5))).toMatchObject([{ ms: 90_000 }])
  })

  it('a value waits for a DELETE of an item that was not recorded before', async () => {
    const world = new World()
    world.deletes = true
    await dieInFlight(world, world.plan({ [a]: { timeout: null } }))
    expect(await runNext(world, wanted(5))).toEqual([{ domains: [a], ms: 40_000 }])
    await expectTrue(world, 5)
  })

  it('the same value is sent at once', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    expect(await runNext(world, wanted(10))).toMatchObject([{ ms: 0 }])
    await expectTrue(world, 10)
  })

  it('the same value of an unrecorded item is sent at once', async () => {
    const world = new World()
    await dieInFlight(world, world.plan(wanted(10)))
    expect(await runNext(world, wanted(10))).toMatchObject([{ ms: 0 }])
  })

  it.each([good, doubt])('another value waits after the same was sent ($kind)', async (outcome) => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    const same = world.plan(wanted(10))
    await world.apply(same, () => ({ outcome, ms: 10 }))
    const [sent] = await runNext(world, wanted(5))
    expect(sent?.ms).toBe(40_000)
    await expectTrue(world, 5)
  })

  it('the value of a second dead apply is not the only one that may land', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    // The second process dies while it waits, after its intent was recorded.
    const second = world.start(world.plan(wanted(20)), () => ({ outcome: good }))
    await die(world, second, 1000)
    expect(await runNext(world, wanted(20))).toMatchObject([{ ms: 40_000 }])
  })

  it('other items do not wait, however many writes do', async () => {
    const world = new World()
    await dieInFlight(world, world.plan(wanted(11, 12, 13, 14), 1))
    const calls = await runNext(world, wanted(1, 2, 3, 4, 5), 1)
    expect(calls).toHaveLength(5)
    expect(calls[0]).toEqual({ domains: ['e.example.com'], ms: 0 })
    expect(calls.slice(1).every(({ ms }) => ms >= 40_000)).toBe(true)
  })

  it('an item that the old call may extend waits even for the same value', async () => {
    const list = (...entries: string[]): Value => ({ list: entries, mode: 'cover' })
    const world = new World().holds(a, { ip_black_list: list('192.0.2.1') })
    const desired = { [a]: { ip_black_list: list('192.0.2.2') } }
    await dieInFlight(world, world.plan(desired))
    expect(await runNext(world, desired)).toMatchObject([{ ms: 40_000 }])
  })

  it('nothing waits for a late call that was recorded long ago', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    await runNext(world, wanted(10))
    await world.clock.advance(3_600_000)
    expect(await runNext(world, wanted(5))).toMatchObject([{ ms: 0 }])
  })

  it('the time that the machine is asleep counts', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await dieInFlight(world, world.plan(wanted(10)))
    const start = world.clock.now()
    const next = world.start(world.plan(wanted(5)), () => ({ outcome: good }))
    await world.clock.advance(7000)
    world.asleepMs = 26_000
    await world.clock.drive(next)
    // 40 s in all, and the second in which the clock with the sleep may be wrong.
    expect((world.calls.at(-1)?.at ?? 0) - start).toBe(15_000)
  })
})

it.each<[string, [Outcome, Outcome], number]>([
  ['answered', [bad, { ...bad, code: 2 }], 0],
  ['abandoned', [doubt, doubt], 10_000],
])(
  'an item in-doubt after calls that were %s waits as long as one may land',
  async (_what, [first, later], ms) => {
    const world = new World()
    const { inDoubt, parts } = await world.apply(world.plan(wanted(10, 10)), (call) => ({
      outcome: call === 0 ? first : later,
    }))
    expect(inDoubt + parts.inDoubt).toBeGreaterThan(0)
    expect(world.item(a, 'timeout')?.status).toBe('in-doubt')
    expect(await runNext(world, wanted(20, 20))).toMatchObject([{ ms }])
  },
)

describe('a forgotten item of an apply that died', () => {
  const minute = 60_000
  const diedAt = Date.parse('2026-11-20T00:00:00.000Z')
  const counts = { confirmed: 0, refused: 0, inDoubt: 1, notSent: 0 }
  const about = { commit: null, author: null, writes: counts }
  const list = async () => [
    { ...about, id: 'dead', startedAt: toIso(0), endedAt: null, outcome: 'interrupted' as const },
    { ...about, id: 'next', startedAt: toIso(6), endedAt: toIso(7), outcome: 'complete' as const },
  ]
  const toIso = (minutes: number) => new Date(diedAt + minutes * minute).toISOString()
  const item = {
    status: 'in-doubt' as const,
    candidates: [time(10)],
    at: toIso(0),
    apply: 'dead',
    origin: 'write' as const,
    open: true as const,
  }
  const open = new Map([[a, new Map([['timeout', item]])]])
  const store = {
    listApplies: list,
    loadLateCalls: async () => ({ before: new Map(), landWithinMs: 40_000, open }),
    loadStateBefore: async (_apply: string) => new Map([[a, new Map([['timeout', null]])]]),
  }
  const affected = [{ domains: [a], items: ['timeout'] }]

  it.each([
    [6 + 61 + 5, 1],
    [6 + 61 + 6, 0],
  ])('may change for 66 minutes after the next apply began: after %i', async (minutes, size) => {
    const lockedAtMs = diedAt + minutes * minute
    const { forgotten } = await loadEarlierCalls(affected, new Map(), lockedAtMs, store)
    expect(forgotten.size).toBe(size)
  })

  it('may change for longer if the next apply had other domains, and ran beside it', async () => {
    // The dead apply may have sent its last call long after the other one began.
    const ofOthers = {
      ...store,
      loadStateBefore: async (apply: string) =>
        new Map([[apply === 'dead' ? a : 'other.example.com', new Map([['timeout', null]])]]),
    }
    const lockedAtMs = diedAt + (6 + 61 + 6) * minute
    const { forgotten } = await loadEarlierCalls(affected, new Map(), lockedAtMs, ofOthers)
    expect(forgotten.size).toBe(1)
  })
})
