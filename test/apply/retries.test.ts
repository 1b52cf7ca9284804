import { describe, expect, it } from 'vitest'
import type { Form } from '../../src/core/model/change.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import type { RecordedItem } from '../../src/state/store/store.ts'
import { bad, doubt, good, limits, throttled, unreached, World, type Step } from './world.ts'

const a = 'a.example.com'
const b = 'b.example.com'
const time = (seconds: number) => ({ timeout: { time: String(seconds) } })
const ips = (...list: string[]) => ({ list, mode: 'cover' })
const safe: Form[] = [
  { name: 'replace', payload: ips('192.0.2.1', '192.0.2.2') },
  { name: 'switch', payload: ips('192.0.2.1', '192.0.2.2') },
  { name: 'unset', payload: ips() },
  { name: 'delete', payload: null },
]
const unsafe: Form[] = [
  { name: 'append', payload: { list: ['192.0.2.2'], mode: 'append' } },
  { name: 'add', payload: { list: ['192.0.2.2'], mode: 'append' } },
  { name: 'remove', payload: { list: ['192.0.2.2'], mode: 'append' } },
]

const answerInOrder =
  (outcomes: Outcome[]) =>
  (call: number): Step => ({ outcome: outcomes[call] ?? good })

function createWorld() {
  const world = new World().holds(a, { ip_black_list: ips('192.0.2.1') })
  const plan = world.plan({ [a]: { ip_black_list: ips('192.0.2.1', '192.0.2.2') } })
  const planWith = (...forms: Form[]): Plan => ({
    ...plan,
    writes: plan.writes.map((write) => ({
      ...write,
      items: Object.fromEntries(
        forms.map((form, i) => [['ip_black_list', 'timeout'][i] ?? '', form]),
      ),
    })),
  })
  return { world, by: planWith }
}

/** Returns the pauses between an answer and the next send, ms. */
function listPauses(world: World): number[] {
  return world.calls.slice(1).map((call, i) => call.at - (world.calls[i]?.answeredAt ?? Infinity))
}

describe('an in-doubt write', () => {
  it.each(safe)(
    'is sent again when its form is $name, once a late effect is impossible',
    async (form) => {
      const { world, by } = createWorld()
      world.settleMs = 25_000
      await world.apply(by(form), answerInOrder([doubt, doubt]))
      expect(world.calls).toHaveLength(3)
      for (const pause of listPauses(world)) expect(pause).toBeGreaterThanOrEqual(25_000)
      expect(world.item(a, 'ip_black_list')?.status).not.toBe('in-doubt')
    },
  )

  it.each(unsafe)('is never sent again when its form is $name', async (form) => {
    const { world, by } = createWorld()
    await world.apply(by(form), answerInOrder([doubt]))
    expect(world.calls).toHaveLength(1)
    expect(world.item(a, 'ip_black_list')?.status).toBe('in-doubt')
  })

  it('is never sent again when one of its forms is not safe to repeat', async () => {
    const { world, by } = createWorld()
    await world.apply(
      by(unsafe[0] as Form, { name: 'replace', payload: { time: '10' } }),
      answerInOrder([doubt]),
    )
    expect(world.calls).toHaveLength(1)
  })

  it('is not sent forever', async () => {
    const world = new World()
    const result = await world.apply(world.plan({ [a]: time(10) }), () => ({ outcome: doubt }))
    expect(world.calls.length).toBeLessThanOrEqual(10)
    expect(result).toMatchObject({ inDoubt: 1, sent: true })
  })

  it('does not delay other domains', async () => {
    const world = new World()
    await world.apply(world.plan({ [a]: time(10), [b]: time(20) }, 1), (_call, [domain]) => ({
      outcome: domain === a ? doubt : good,
    }))
    const own = world.calls.filter((call) => call.domains.includes(b))
    expect(own).toHaveLength(1)
    expect((own[0]?.at ?? 0) - (world.calls[0]?.at ?? 0)).toBeLessThan(1000)
  })

  it.each(unsafe)('is sent again as $name when it was never sent', async (form) => {
    const { world, by } = createWorld()
    await world.apply(by(form), answerInOrder([unreached, throttled]))
    expect(world.calls).toHaveLength(3)
  })
})

describe('an item in-doubt since an earlier apply', () => {
  const inDoubt = (at: number) => ({
    status: 'in-doubt' as const,
    candidates: [ips('192.0.2.1'), ips('192.0.2.2')],
    at: new Date(at).toISOString(),
  })

  const waited = async (age: number, more: Partial<RecordedItem> = {}) => {
    const world = new World()
    world.holds(
      a,
      { ip_black_list: ips('192.0.2.1') },
      { ...inDoubt(world.clock.now() - age), ...more },
    )
    const start = world.clock.now()
    await world.apply(world.plan({ [a]: { ip_black_list: ips('192.0.2.3') } }))
    return (world.calls[0]?.at ?? 0) - start
  }

  it('is rewritten a settling time after the lock, since clocks may differ', async () => {
    expect(await waited(4000)).toBe(10_000)
    expect(await waited(299_000)).toBe(10_000)
  })

  it('is rewritten immediately when it is old', async () => {
    expect(await waited(301_000)).toBe(0)
  })

  it('has no age while its write has no recorded outcome', async () => {
    expect(await waited(86_400_000, { open: true })).toBe(40_000)
  })

  it('waits at most the settling time when its recorded time is in the future', async () => {
    const world = new World()
    world.holds(a, { ip_black_list: ips('192.0.2.1') }, inDoubt(world.clock.now() + 9_000_000))
    const start = world.clock.now()
    await world.apply(world.plan({ [a]: { ip_black_list: ips('192.0.2.3') } }))
    expect((world.calls[0]?.at ?? 0) - start).toBeLessThanOrEqual(10_000)
  })

  it('counts from the end of the write, not from its start', async () => {
    const world = new World().holds(a, { timeout: { time: '5' } })
    // Given up after a time-out of 30 s, it lands 5 s later.
    await world.apply(world.plan({ [a]: time(10) }), () => ({
      outcome: doubt,
      ms: 30_000,
      saves: [a],
      late: 5000,
    }))
    const givenUp = world.calls.at(-1)?.answeredAt ?? 0
    const first = world.calls.length
    await world.apply(world.plan({ [a]: time(20) }))
    expect((world.calls[first]?.at ?? 0) - givenUp).toBeGreaterThanOrEqual(10_000)
    await world.clock.advance(60_000)
    expect(world.truth.get(a)?.get('timeout')).toEqual({ time: '20' })
  })

  it('counts from the last attempt when the process died during it', async () => {
    const world = new World().holds(a, { timeout: { time: '5' } })
    const lateTwice = (call: number): Step => ({
      outcome: doubt,
      saves: call === 1 ? [a] : [],
      ms: 100,
      ...(call === 1 ? { late: 5000 } : {}),
    })
    const work = world.start(world.plan({ [a]: time(10) }), lateTwice).catch(() => {})
    while (world.calls.length < 2) await world.clock.advance(100)
    world.diesAt = 0
    await world.clock.drive(work)
    world.diesAt = Infinity
    await world.apply(world.plan({ [a]: time(20) }))
    await world.clock.advance(60_000)
    expect(
      world.allows(a, 'timeout', world.truth.get(a)?.get('timeout')),
      JSON.stringify(world.durable[a]),
    ).toBe(true)
  })

  it('delays an item that its late effect would clear', async () => {
    const world = new World()
    world.settleMs = 60_000
    const append: Form = { name: 'append', payload: { list: ['192.0.2.2'], mode: 'append' } }
    const plan = world.plan({ [a]: { ip_black_list: ips('192.0.2.2') } })
    const once = {
      ...plan,
      writes: plan.writes.map((write) => ({ ...write, items: { ip_black_list: append } })),
    }
    await world.apply(once, () => ({ outcome: doubt, saves: [a], late: 30_000 }))
    await world.apply(world.plan({ [a]: { ip_white_list: ips('192.0.2.7') } }))
    await world.clock.advance(60_000)
    expect(
      world.allows(a, 'ip_white_list', world.truth.get(a)?.get('ip_white_list')),
      JSON.stringify(world.durable[a]),
    ).toBe(true)
  })
})

describe('a throttled write', () => {
  it('is sent again after the wait in the headers', async () => {
    const world = new World()
    await world.apply(world.plan({ [a]: time(10) }), answerInOrder([throttled]))
    expect(world.calls).toHaveLength(2)
    expect(listPauses(world)[0]).toBeGreaterThanOrEqual(7000)
    expect(listPauses(world)[0]).toBeLessThan(8000)
    expect(world.events.find((event) => event.type === 'write.waiting')).toMatchObject({
      id: 1,
      seconds: 7,
    })
    expect(world.item(a, 'timeout')?.status).toBe('confirmed')
  })

  it('waits even if no time is given', async () => {
    const world = new World()
    await world.apply(
      world.plan({ [a]: time(10) }),
      answerInOrder([{ kind: 'throttled', message: 'slow', retryAfterMs: null, limits }]),
    )
    expect(listPauses(world)[0]).toBeGreaterThan(100)
  })

  it('ends the apply when the wait exceeds the maximum', async () => {
    const world = new World().holds(a, { timeout: { time: '5' } })
    const before = world.durable[a]
    const start = world.clock.now()
    const far: Outcome = {
      kind: 'throttled',
      message: 'tomorrow',
      retryAfterMs: 86_400_000,
      limits: { remaining: 0, resetMs: 86_400_000 },
    }
    const result = await world.apply(
      world.plan({ [a]: time(10), [b]: time(20) }, 1),
      (_call, [domain]) => ({
        outcome: domain === a ? far : good,
      }),
    )
    expect(world.clock.now() - start).toBeLessThanOrEqual(300_000)
    expect(result.notSent).toBeGreaterThanOrEqual(1)
    expect(result.stopped).not.toBeNull()
    expect(world.durable[a]).toEqual(before)
  })

  it('includes, once, a refusal without calls left', async () => {
    const full: Outcome = { ...bad, limits: { remaining: 0, resetMs: 20_000 } }
    const once = new World()
    expect(await once.apply(once.plan({ [a]: time(10) }), answerInOrder([full]))).toMatchObject({
      confirmed: 1,
      refused: 0,
    })
    expect(listPauses(once)[0]).toBeGreaterThanOrEqual(20_000)
    const twice = new World()
    expect(
      await twice.apply(twice.plan({ [a]: time(10) }), () => ({ outcome: full })),
    ).toMatchObject({ refused: 1, notSent: 0 })
    expect(twice.calls).toHaveLength(2)
  })
})

describe('an unsent write', () => {
  it('is retried after growing pauses', async () => {
    const world = new World()
    await world.apply(
      world.plan({ [a]: time(10) }),
      answerInOrder([unreached, unreached, unreached]),
    )
    expect(world.calls).toHaveLength(4)
    const [first = 0, second = 0, third = 0] = listPauses(world)
    expect(first).toBeGreaterThan(0)
    expect(second).toBeGreaterThan(first)
    expect(third).toBeGreaterThan(second)
    expect(world.item(a, 'timeout')?.status).toBe('confirmed')
  })
})
