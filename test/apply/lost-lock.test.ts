import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Clearance } from '../../src/state/locks/lease.ts'
import { bad, good, unreached, World, type Step } from './world.ts'

const [a, b, c] = ['a.example.com', 'b.example.com', 'c.example.com']

/** Plans a write for each domain. */
function planThree(world: World) {
  for (const domain of [a, b, c]) world.holds(domain, { timeout: { time: '1' } })
  const desired = Object.fromEntries(
    [a, b, c].map((domain, i) => [domain, { timeout: { time: String(10 + i) } }]),
  )
  return world.plan(desired)
}

describe('the check of the lock', () => {
  it('comes directly before each call, with nothing in between', async () => {
    const world = new World()
    let isFresh = false
    world.lease.check = () => {
      isFresh = true
      queueMicrotask(() => (isFresh = false))
      return 'clear'
    }
    const seen: boolean[] = []
    const script = (): Step => {
      seen.push(isFresh)
      return { outcome: seen.length === 1 ? unreached : good }
    }
    await world.apply(planThree(world), script)
    expect(seen).toEqual([true, true, true, true])
  })

  it('is not repeated once it allows the call: a look may be too old at any moment', async () => {
    const world = new World()
    let [checks, looks] = [0, 0]
    world.lease = {
      check: () => (checks++ % 2 === 0 ? 'clear' : 'look'),
      look: async () => {
        looks++
      },
    }
    const { confirmed, notSent } = await world.apply(planThree(world))
    expect([confirmed, notSent]).toEqual([3, 0])
    expect(looks).toBeLessThanOrEqual(3)
  })

  it('looks again after a while, and refuses if no look succeeds', async () => {
    const world = new World()
    let looks = 0
    let clearance: Clearance = 'look'
    world.lease = {
      check: () => clearance,
      look: async () => {
        looks++
        if (looks % 2 === 0) clearance = 'clear'
      },
    }
    expect((await world.apply(planThree(world))).confirmed).toBe(3)
    expect(looks).toBeGreaterThanOrEqual(2)
    clearance = 'look'
    world.lease.look = async () => void looks++
    world.calls.length = 0
    const refused = await world.apply(world.plan({ [a]: { timeout: { time: '99' } } }))
    expect(refused).toMatchObject({
      notSent: 1,
      sent: false,
      stopped: expect.stringContaining('could not be checked within 5 seconds') as string,
    })
    expect(world.calls).toEqual([])
  })

  it('names the reason of the loss, and sends nothing more', async () => {
    const world = new World()
    const refused = { refused: 'the lock was removed with "edgewise state unlock"' }
    world.lease.check = () => (world.calls.length > 0 ? refused : 'clear')
    const result = await world.apply(planThree(world), () => ({ outcome: good, ms: 5 }))
    expect(result.stopped).toBe(refused.refused)
    expect(world.calls.length).toBeLessThan(3)
  })
})

/** Creates the check of a lock that is found to be lost once calls were sent. */
function loseAfterCalls({ calls }: World): (callMs: number) => Clearance {
  return (callMs) => (callMs === 0 && calls.length > 0 ? { refused: 'lost' } : 'clear')
}

it('records no intents after the lock is lost: the next holder writes the same state', async () => {
  const world = new World()
  let [isLost, saved] = [false, 0]
  world.lease = {
    check: () => (isLost ? { refused: 'the lock was removed' } : 'look'),
    look: async () => void (isLost = true),
  }
  world.onSave = () => void saved++
  const failed = { code: 'record-moved', message: 'the lock was removed' }
  await expect(world.apply(planThree(world))).rejects.toMatchObject(failed)
  expect([saved, world.calls]).toEqual([0, []])
})

it('leaves writes unsent after a stop of the account, as ever', async () => {
  const world = new World()
  world.lease.check = () => ({ refused: 'all writes were stopped', isStop: true })
  const result = await world.apply(planThree(world))
  expect(result).toMatchObject({ notSent: 3, sent: false, stopped: 'all writes were stopped' })
})

describe("an apply that can't record its outcomes", () => {
  /** Applies; recording fails from the first outcome on. */
  async function loseRecord(world: World, code: 'record-moved' | 'record-unreachable') {
    const plan = planThree(world)
    world.onSave = () => {
      if (world.calls.length > 0) throw new EdgewiseError(code, 'not recorded')
    }
    return world.apply(plan, (call) => ({ outcome: call === 1 ? unreached : good }))
  }

  it('fails without apply.finished if no call was sent and its end is not recorded', async () => {
    const world = new World()
    world.lease.check = (callMs) => (callMs === 0 ? 'clear' : { refused: 'the lock was removed' })
    world.onSave = () => {
      if (world.log.includes('write.not-sent 3'))
        throw new EdgewiseError('locked', 'the lock was removed')
    }
    await expect(world.apply(planThree(world))).rejects.toMatchObject({ code: 'locked' })
    const types = world.events.map(({ type }) => type)
    expect(types.filter((type) => type === 'write.not-sent').length).toBe(3)
    expect(types).toContain('apply.started')
    expect(types).not.toContain('apply.finished')
  })

  it('marks the writes that it sent if its lock is lost', async () => {
    const world = new World()
    let marked: number[] = []
    world.onMark = (writes) => (marked = writes)
    world.lease.check = loseAfterCalls(world)
    const result = await loseRecord(world, 'record-moved')
    expect(result).toMatchObject({ sent: true, unrecorded: 'not recorded' })
    expect(marked).not.toContain(2)
    expect(marked).toHaveLength(2)
  })

  it('marks nothing while the lock is its own, or if nothing was accepted', async () => {
    const world = new World()
    world.onMark = () => expect.unreachable()
    expect((await loseRecord(world, 'record-unreachable')).unrecorded).toBe('not recorded')
    const other = new World()
    other.onMark = () => expect.unreachable()
    other.lease.check = loseAfterCalls(other)
    await other.apply(planThree(other), () => ({ outcome: bad }))
  })

  it('tries again while the store is unreachable, and says so if it gives up', async () => {
    const world = new World()
    let attempts = 0
    world.lease.check = loseAfterCalls(world)
    world.onMark = () => {
      if (++attempts < 3) throw new EdgewiseError('record-unreachable', 'no route')
    }
    expect((await loseRecord(world, 'record-moved')).unrecorded).toBe('not recorded')
    expect(attempts).toBe(3)
    const other = new World()
    other.lease.check = loseAfterCalls(other)
    other.onMark = () => {
      throw new EdgewiseError('record-moved', 'the branch was deleted')
    }
    expect((await loseRecord(other, 'record-moved')).unrecorded).toMatch(
      /2 writes could not be marked as in-doubt \(the branch was deleted\)/,
    )
  })
})
