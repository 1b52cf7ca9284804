import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Domain } from '../../src/core/model/item.ts'
import {
  bad,
  doubt,
  good,
  nameDomain,
  ProcessDeath,
  throttled,
  unauthorised,
  unreached,
  World,
  type Call,
} from './world.ts'

const time = (seconds: number) => ({ timeout: { time: String(seconds) } })
const names = Array.from({ length: 12 }, (_, i) => nameDomain(i))

function overlapping(calls: Call[]): [Call, Call][] {
  return calls.flatMap((a, i) =>
    calls
      .slice(i + 1)
      .flatMap((b): [Call, Call][] =>
        b.at < (a.answeredAt ?? Infinity) && a.at < (b.answeredAt ?? Infinity) ? [[a, b]] : [],
      ),
  )
}

describe('the order of an apply', () => {
  it('saves intents before the send, outcomes after the answer', async () => {
    const world = new World()
    await world.apply(
      world.plan({ 'a.example.com': time(10), 'b.example.com': time(20) }, 1),
      (call) => ({
        outcome: good,
        ms: 100 + call,
      }),
    )
    const sends = world.log.flatMap((line, i) => (line.startsWith('send') ? [i] : []))
    expect(world.log.indexOf('intend')).toBeGreaterThanOrEqual(0)
    expect(world.log.indexOf('intend')).toBeLessThan(Math.min(...sends))
    for (const domain of ['a.example.com', 'b.example.com']) {
      const own = world.log.filter((line) => line.endsWith(domain))
      expect(own).toEqual([`send ${domain}`, `answer ${domain}`, `save ${domain}`])
    }
  })

  it('leaves the given state unchanged; the result has the new state', async () => {
    const world = new World()
    const base = world.recorded()
    const before = structuredClone(base)
    const { recorded } = await world.apply(
      world.plan({ 'a.example.com': time(10) }),
      undefined,
      base,
    )
    expect(base).toEqual(before)
    expect(recorded.get('a.example.com')?.get('timeout')).toMatchObject({
      status: 'confirmed',
      candidates: [{ time: '10' }],
    })
  })

  it("does not send a write whose intent can't be saved", async () => {
    const world = new World()
    world.onSave = () => {
      throw new Error('disk full')
    }
    await expect(world.apply(world.plan({ 'a.example.com': time(10) }))).rejects.toThrow(
      'disk full',
    )
    expect(world.calls).toEqual([])
  })

  it('ends when a save fails: no write begins, and writes in flight are recorded', async () => {
    const world = new World()
    let saves = 0
    world.onSave = () => {
      if (++saves === 4) throw new Error('disk full')
    }
    let sentBeforeEnd = -1
    const ended = world
      .start(world.planEach(12), () => ({ outcome: good, ms: 1000 }))
      .catch((error: Error) => error.message)
      .then((message) => {
        sentBeforeEnd = world.calls.length
        return message
      })
    expect(await world.clock.drive(ended)).toBe('disk full')
    const unanswered = world.calls.filter((call) => call.answeredAt === null).length
    await world.clock.advance(100_000)
    expect(world.calls.length, 'writes sent in the end').toBe(sentBeforeEnd)
    expect(unanswered, 'writes under way when the apply ended').toBe(0)
  })

  it("reports writes that the store can't record, and counts them as in-doubt", async () => {
    const world = new World()
    let saves = 0
    world.onSave = () => {
      if (++saves === 4) throw new EdgewiseError('record-unreachable', 'disk full')
    }
    const result = await world.apply(world.planEach(12))
    expect(result).toMatchObject({ sent: true, unrecorded: 'disk full', inDoubt: 1 })
    expect(result.confirmed + result.inDoubt).toBe(world.calls.length)
    expect(result.confirmed + result.inDoubt + result.notSent).toBe(12)
    expect(world.log.at(-1)).toBe('apply.finished')
  })

  it("fails when the store can't record before anything was sent", async () => {
    const world = new World()
    world.onSave = () => {
      throw new EdgewiseError('record-unreachable', 'disk full')
    }
    await expect(world.apply(world.plan({ 'a.example.com': time(10) }))).rejects.toThrow(
      'disk full',
    )
  })

  it('has at most four writes in flight, and uses all four', async () => {
    const world = new World()
    await world.apply(world.planEach(12), (call) => ({
      outcome: good,
      ms: 100 + ((call * 37) % 200),
    }))
    expect(world.calls).toHaveLength(12)
    const most = Math.max(
      ...world.calls.map(
        (a) => world.calls.filter((b) => b.at <= a.at && a.at < (b.answeredAt ?? 0)).length,
      ),
    )
    expect(most).toBe(4)
  })

  it('never has two writes of one domain in flight, and keeps their order', async () => {
    const world = new World()
    const plan = world.planEach(12)
    const [first] = plan.writes
    if (first === undefined) throw new Error('expected a write')
    // Every domain in three writes, each a pair of neighbours: nothing that the planner makes, and
    // all that a plan may be.
    plan.writes = names.flatMap((name, i) =>
      [0, 1, 2].map((n) => ({
        ...first,
        id: i * 3 + n + 1,
        domains: [name, names[(i + n + 1) % names.length] ?? name],
        items: { timeout: { name: 'replace' as const, payload: { time: String(20 + i * 3 + n) } } },
      })),
    )
    await world.apply(plan, (call) => ({ outcome: good, ms: 50 + ((call * 61) % 300) }))
    expect(world.calls).toHaveLength(36)
    for (const [a, b] of overlapping(world.calls))
      expect(a.domains.filter((domain) => b.domains.includes(domain))).toEqual([])
    for (const domain of names) {
      const own = plan.writes
        .filter((write) => write.domains.includes(domain))
        .map((write) => write.domains.join())
      expect(
        world.calls
          .filter((call) => call.domains.includes(domain))
          .map((call) => call.domains.join()),
      ).toEqual(own)
      const last = plan.writes.findLast((write) => write.domains.includes(domain))
      expect(world.item(domain, 'timeout')?.candidates).toEqual([last?.items['timeout']?.payload])
    }
  })

  it('begins writes in the order of the plan', async () => {
    const world = new World()
    await world.apply(world.planEach(12))
    expect(world.calls.map((call) => call.domains[0])).toEqual(names)
  })
})

describe('an apply that stops', () => {
  const answerDomain = (domain: Domain) => ({ outcome: domain === names[0] ? unauthorised : good })

  it('sends nothing more after 401', async () => {
    const world = new World()
    const result = await world.apply(world.planEach(12), (_call, [domain]) => ({
      ...answerDomain(domain ?? ''),
      ms: domain === names[0] ? 10 : 1000,
    }))
    expect(world.calls).toHaveLength(4)
    expect(result).toMatchObject({ confirmed: 3, refused: 1, notSent: 8, sent: true, refusals: [] })
    expect(result.stopped).toContain('401')
    expect(
      world.item(names[5] ?? '', 'timeout'),
      'a write that did not begin is not recorded',
    ).toBeUndefined()
  })

  it.each([
    ['was throttled', throttled],
    ['did not reach the service', unreached],
    ['is in-doubt', doubt],
  ])('does not retry after 401 a write that %s', async (_what, first) => {
    const world = new World()
    const plan = world.plan({ [names[0] ?? '']: time(10), [names[1] ?? '']: time(11) }, 1)
    await world.apply(plan, (call, [domain]) => ({
      outcome: domain === names[0] ? unauthorised : call < 2 ? first : good,
      ms: domain === names[0] ? 100 : 10,
    }))
    expect(world.calls.map((call) => call.domains[0])).toEqual([names[0], names[1]])
  })

  it('has nothing in-doubt if every call was answered 401', async () => {
    const world = new World()
    const domains = names.slice(0, 3)
    await world.apply(
      world.plan(Object.fromEntries(domains.map((name) => [name, time(1)]))),
      () => ({
        outcome: good,
      }),
    )
    const plan = world.plan(Object.fromEntries(domains.map((name) => [name, time(2)])))
    expect(plan.writes.map((write) => write.domains.length)).toEqual([3])
    const result = await world.apply(plan, () => ({ outcome: unauthorised }))
    expect(result).toMatchObject({ refused: 1, notSent: 0, sent: false, refusals: [] })
    for (const name of domains)
      expect(world.item(name, 'timeout')).toMatchObject({ status: 'confirmed' })
  })

  it('keeps in-doubt what an earlier attempt of a call answered 401 may have changed', async () => {
    const world = new World()
    const [name = ''] = names
    const result = await world.apply(world.plan({ [name]: time(1) }), (call) => ({
      outcome: call === 0 ? doubt : unauthorised,
    }))
    expect(result).toMatchObject({ sent: true })
    expect(world.item(name, 'timeout')).toMatchObject({ status: 'in-doubt' })
  })

  it('does not send after 401 a write that waits for the call budget', async () => {
    const world = new World()
    world.callsPerMinute = 1
    const plan = world.plan({ [names[0] ?? '']: time(10), [names[1] ?? '']: time(11) }, 1)
    const result = await world.apply(plan, (_call, [domain]) => answerDomain(domain ?? ''))
    expect(world.calls).toHaveLength(1)
    expect(result).toMatchObject({ refused: 1, notSent: 1 })
    expect(world.item(names[1] ?? '', 'timeout')).toBeUndefined()
  })

  it('finishes and records writes in flight after an interrupt, and begins nothing', async () => {
    const world = new World()
    const result = await world.apply(world.planEach(12), (call) => {
      if (call === 2) world.interrupt.abort()
      return { outcome: good }
    })
    expect(world.calls.length).toBeLessThanOrEqual(4)
    expect(result.confirmed).toBe(world.calls.length)
    expect(result.confirmed + result.notSent).toBe(12)
    expect(result.stopped).toBe('interrupted')
    for (const [i, name] of names.entries()) {
      expect(world.item(name, 'timeout')?.status).toBe(
        i < world.calls.length ? 'confirmed' : undefined,
      )
    }
  })

  it('ends when the service is unreachable, with nothing in-doubt', async () => {
    const world = new World().holds('a.example.com', time(5))
    const before = JSON.stringify(world.durable)
    const result = await world.apply(world.plan({ 'a.example.com': time(10) }), () => ({
      outcome: unreached,
    }))
    expect(world.calls.length).toBeGreaterThan(1)
    expect(result).toMatchObject({
      notSent: 1,
      inDoubt: 0,
      sent: false,
      stopped: 'the connection was refused',
    })
    expect(JSON.stringify(world.durable)).toBe(before)
  })

  it('goes on after a refusal: the rest is applied', async () => {
    const world = new World()
    const result = await world.apply(world.planEach(12), (_call, [domain]) => ({
      outcome: domain === names[0] ? bad : good,
    }))
    expect(result).toMatchObject({ confirmed: 11, refused: 1, notSent: 0, stopped: null })
    expect(world.calls).toHaveLength(12)
    expect(result.refusals.map(({ domains, message }) => [domains[0], message])).toEqual([
      [names[0], 'no'],
    ])
  })

  it('fails when its process dies', async () => {
    const world = new World()
    world.diesAt = 12
    await expect(world.apply(world.planEach(12))).rejects.toThrow(ProcessDeath)
  })
})

describe('the events of an apply', () => {
  it('start and end with the apply and its counts, and name each write by its id', async () => {
    const world = new World().holds('old.example.com', time(9))
    const plan = world.plan({ 'a.example.com': time(10), 'b.example.com': time(20) }, 1)
    await world.apply(plan, (call) => ({ outcome: call === 0 ? good : bad }))
    expect(world.events[0]).toMatchObject({
      type: 'apply.started',
      apply: 'apply-1',
      writes: 2,
      releases: 1,
    })
    expect(world.events.at(-1)).toMatchObject({
      type: 'apply.finished',
      confirmed: 1,
      refused: 1,
      inDoubt: 0,
      notSent: 0,
      stopped: null,
    })
    expect(
      world.events.filter((event) => event.type === 'write.started').map((event) => event.id),
    ).toEqual([1, 2])
    for (const event of world.events) expect(event.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })
})
