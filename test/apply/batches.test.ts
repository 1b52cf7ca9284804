// @module-tag often
import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { bad, doubt, good, World } from './world.ts'
import { fc, itOften, runs } from '../runs.ts'

describe('the intents of a wave', () => {
  it.each([
    [30, 70, [30, 30, 10]],
    [1000, 450, [200, 200, 50]],
    [1, 3, [1, 1, 1]],
  ])(
    'at %i calls a minute, %i writes are recorded in batches of %j',
    async (calls, writes, sizes) => {
      const world = new World()
      world.callsPerMinute = calls
      await world.apply(world.planEach(writes))
      expect(world.intended.map((batch) => batch.writes.length)).toEqual(sizes)
      expect(world.intended.flatMap((batch) => batch.writes)).toEqual(
        Array.from({ length: writes }, (_, i) => i + 1),
      )
    },
  )

  it('are recorded while the batch before them is sent', async () => {
    const run = async (intendMs: number) => {
      const world = new World()
      world.callsPerMinute = 30
      world.intendMs = intendMs
      await world.apply(world.planEach(150), () => ({ outcome: good, ms: 1000 }))
      return { world, ms: world.clock.now() - (world.intended[0]?.at ?? 0) }
    }
    const { world, ms } = await run(2000)
    const sends = world.log.filter((line) => line === 'intend' || line.startsWith('send'))
    // The numbers of calls sent before each batch was begun.
    const sent = sends.flatMap((line, i) =>
      line === 'intend' ? [sends.slice(0, i).filter((each) => each !== 'intend').length] : [],
    )
    expect(sent).toEqual([0, 15, 45, 75, 105])
    // The delays of four batches do not add up.
    expect(ms - (await run(0)).ms).toBeLessThanOrEqual(2000)
  })

  it('of later batches are not recorded once the apply has stopped', async () => {
    const world = new World()
    world.callsPerMinute = 30
    const result = await world.apply(world.planEach(90), (call) => {
      if (call === 5) world.interrupt.abort()
      return { outcome: good }
    })
    expect(world.intended).toHaveLength(1)
    expect(world.ended).toMatchObject({
      outcome: 'interrupted',
      writes: { confirmed: result.confirmed, notSent: 90 - result.confirmed },
    })
  })

  it('that can not be recorded stop the apply; nothing of them is sent', async () => {
    const world = new World()
    world.callsPerMinute = 30
    world.onIntend = ({ number }) => {
      if (number === 2) throw new EdgewiseError('record-unreachable', 'the remote is gone')
    }
    const result = await world.apply(world.planEach(90), () => ({ outcome: good, ms: 500 }))
    expect(result.stopped).toBe(
      'the intents of the next writes could not be recorded: the remote is gone',
    )
    expect(result).toMatchObject({ sent: true, confirmed: world.calls.length, refused: 0 })
    expect(result.inDoubt).toBe(0)
    expect(world.calls.length).toBeGreaterThan(0)
    expect(world.calls.length).toBeLessThanOrEqual(30)
    // Every outcome is recorded, and so is the end of the apply.
    expect(Object.keys(world.durable)).toHaveLength(world.calls.length)
    expect(world.ended).toMatchObject({ writes: { confirmed: world.calls.length, inDoubt: 0 } })
  })

  it('that can not be recorded by a defect end the apply with the defect', async () => {
    const world = new World()
    world.callsPerMinute = 30
    world.onIntend = ({ number }) => {
      if (number === 2) throw new TypeError('a defect')
    }
    await expect(world.apply(world.planEach(60))).rejects.toThrow('a defect')
    expect(world.calls.length).toBeLessThanOrEqual(30)
  })
})

describe('a killed process', () => {
  it('leaves one batch and a half in-doubt at most, and knows what was never begun', async () => {
    const counts: number[] = []
    for (const diesAt of [60, 200, 450, 700]) {
      const world = new World()
      world.callsPerMinute = 30
      const writes = world.planEach(134)
      world.diesAt = diesAt
      const ended = world.start(writes, () => ({ outcome: good, ms: 1000 }))
      await world.clock.drive(ended.catch(() => null))
      const entry = world.journal.at(-1)
      const { confirmed = 0, inDoubt = 0, notSent = 0 } = entry?.writes ?? {}
      expect(confirmed + inDoubt + notSent).toBe(134)
      expect(inDoubt).toBeLessThanOrEqual(45)
      const doubted = [...world.recorded().values()].filter((items) =>
        [...items.values()].some(({ status }) => status === 'in-doubt'),
      )
      expect(doubted.length).toBeLessThanOrEqual(45)
      expect(doubted.length).toBeGreaterThan(0)
      expect(notSent).toBe(134 - world.intended.flatMap((batch) => batch.writes).length)
      counts.push(confirmed)
    }
    expect(new Set(counts).size).toBe(counts.length)
  })
})

itOften('no write is sent before the intents of its batch are recorded', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        writes: fc.integer({ min: 1, max: 40 }),
        callsPerMinute: fc.integer({ min: 1, max: 12 }),
        intendMs: fc.integer({ min: 1, max: 90_000 }),
        answers: fc.array(fc.constantFrom(good, good, good, bad, doubt), {
          minLength: 7,
          maxLength: 7,
        }),
        failing: fc.option(fc.integer({ min: 2, max: 4 }), { nil: null }),
      }),
      async ({ writes, callsPerMinute, intendMs, answers, failing }) => {
        const world = new World()
        Object.assign(world, { callsPerMinute, intendMs })
        world.onIntend = ({ number }) => {
          if (number === failing) throw new EdgewiseError('record-unreachable', 'gone')
        }
        const made = world.planEach(writes)
        await world.apply(made, (call) => ({
          outcome: answers[call % answers.length] ?? good,
          ms: 100 + 700 * (call % 5),
        }))
        const durableAt = new Map(
          world.intended.flatMap(({ at, writes: ids }) => ids.map((id) => [id, at])),
        )
        const ids = new Map(made.writes.map(({ id, domains }) => [domains[0], id]))
        for (const call of world.calls) {
          const at = durableAt.get(ids.get(call.domains[0] ?? '') ?? 0)
          expect(at ?? Infinity).toBeLessThanOrEqual(call.at)
        }
      },
    ),
    { numRuns: runs(20, 1_000) },
  ),
)
