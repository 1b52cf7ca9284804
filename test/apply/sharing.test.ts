import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { good, World } from './world.ts'

const unreachable = new EdgewiseError('record-unreachable', 'the remote is gone')

/** Creates a world that counts shares; share number `fails` fails, from 1. */
function createSharingWorld(
  fails = Infinity,
  failure: Error = unreachable,
): { world: World; times: number[] } {
  const world = new World()
  const times: number[] = []
  world.share = async () => {
    times.push(world.clock.now())
    world.log.push('share')
    if (times.length === fails) throw failure
  }
  return { world, times }
}

describe('sharing of outcomes', () => {
  it('happens at least every ten seconds while outcomes arrive', async () => {
    const { world, times } = createSharingWorld()
    world.callsPerMinute = 4
    await world.apply(world.planEach(12), () => ({ outcome: good, ms: 1000 }))
    const saves = world.log.flatMap((line, i) => (line.startsWith('save') ? [i] : []))
    expect(saves).toHaveLength(12)
    const answered = world.calls.map((call) => call.answeredAt ?? 0)
    for (const at of answered)
      expect(
        times.some((shareAt) => shareAt >= at && shareAt <= at + 10_000),
        `an outcome of ${at}`,
      ).toBe(true)
    // Nothing is shared while nothing happens.
    expect(times.length).toBeLessThanOrEqual(answered.length + 1)
  })

  it('happens at the end, even if outcomes were shared before', async () => {
    const { world } = createSharingWorld()
    await world.apply(world.planEach(1), () => ({ outcome: good, ms: 100 }))
    expect(world.log.indexOf('share')).toBeGreaterThan(world.log.indexOf('end'))
  })

  it('does not happen for an empty plan', async () => {
    const { world, times } = createSharingWorld()
    await world.apply(world.plan({}))
    expect(times).toEqual([])
  })
})

describe('a failed share', () => {
  it('is retried once at the end, not for each outcome in flight', async () => {
    const { world, times } = createSharingWorld(1)
    await world.apply(world.planEach(8), (call) => ({
      outcome: good,
      ms: call === 1 ? 1000 : 12_000 * call,
    }))
    expect(times).toHaveLength(2)
  })

  it('ends the apply before its next write; writes in flight are recorded and shared', async () => {
    const { world, times } = createSharingWorld(1)
    world.callsPerMinute = 4
    const result = await world.apply(world.planEach(12), () => ({ outcome: good, ms: 1000 }))
    expect(result.stopped).toContain('the remote is gone')
    expect(result.sent).toBe(true)
    expect(world.calls.every((call) => call.at <= (times[0] ?? 0))).toBe(true)
    expect(result.notSent).toBe(12 - world.calls.length)
    expect(result.confirmed).toBe(world.calls.length)
    expect(times).toHaveLength(2)
    expect(result.unrecorded).toBeNull()
  })

  it('at the end is reported, though every write is confirmed', async () => {
    const { world } = createSharingWorld(1)
    const result = await world.apply(world.planEach(1), () => ({ outcome: good, ms: 100 }))
    const stopped = 'the outcomes could not be shared: the remote is gone'
    const unrecorded = 'the remote is gone'
    expect(result).toMatchObject({ confirmed: 1, notSent: 0, unrecorded, unshared: true, stopped })
    expect(world.events.at(-1)).toMatchObject({ type: 'apply.finished', confirmed: 1, stopped })
  })

  it('keeps no outcome to share later if another process has written the state', async () => {
    const moved = new EdgewiseError('record-moved', 'another process has written')
    const { world } = createSharingWorld(1, moved)
    const result = await world.apply(world.planEach(1), () => ({ outcome: good, ms: 100 }))
    const unrecorded = 'another process has written'
    const stopped = `the outcomes could not be shared: ${unrecorded}`
    expect(result).toMatchObject({ confirmed: 1, unrecorded, unshared: false, stopped })
  })
})
