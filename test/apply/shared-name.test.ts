import { beforeEach, describe, expect, it } from 'vitest'
import type { Value } from '../../src/core/model/item.ts'
import { bad, doubt, good, World } from './world.ts'

const [a, b] = ['a.example.com', 'b.example.com'] as const
const old: Value = { bcache: 'on', code: ['404'], cache_time: 1, cache_unit: 'hour' }
const next: Value = { bcache: 'on', code: ['404'], cache_time: '2', cache_unit: 'hour' }
let world: World
beforeEach(async () => {
  world = new World()
  world.itemKeys = { error_bcache: 'cache_error_code' }
  await world.apply(world.plan({ [a]: { cache_error_code: old } }))
  expect(Object.fromEntries(world.truth.get(a) ?? [])).toEqual({ cache_error_code: old })
})
const planSwitch = () => world.plan({ [a]: { error_bcache: next } })

describe('a switch between two items with the same name', () => {
  it('is one write, after which only the new item is recorded', async () => {
    const plan = planSwitch()
    expect(plan.changes).toMatchObject([
      { item: 'cache_error_code', action: 'unset', reason: 'cleared', by: 'error_bcache' },
      { item: 'error_bcache', action: 'set' },
    ])
    expect(plan.writes.map(({ items }) => Object.keys(items))).toEqual([['error_bcache']])
    await world.apply(plan)
    expect(world.item(a, 'cache_error_code')).toBeUndefined()
    expect(world.item(a, 'error_bcache')).toMatchObject({ status: 'confirmed', candidates: [next] })
    expect(Object.fromEntries(world.truth.get(a) ?? [])).toEqual({ error_bcache: next })
    expect(planSwitch().changes).toEqual([])
  })

  it('leaves both in-doubt without an answer, and can be repeated or reversed', async () => {
    await world.apply(planSwitch(), () => ({ outcome: doubt, saves: [a] }))
    expect(world.item(a, 'cache_error_code')).toMatchObject({
      status: 'in-doubt',
      candidates: [old],
      unknown: true,
    })
    expect(world.item(a, 'error_bcache')).toMatchObject({ status: 'in-doubt', candidates: [next] })
    await world.apply(world.plan({ [a]: { cache_error_code: old } }))
    expect(Object.fromEntries(world.truth.get(a) ?? [])).toEqual({ cache_error_code: old })
    expect(world.item(a, 'cache_error_code')).toMatchObject({ status: 'confirmed' })
    expect(world.item(a, 'error_bcache')).toBeUndefined()
  })

  it('waits for an abandoned call of the other item, which alone is recorded', async () => {
    const unrecorded = { [b]: { error_bcache: next } }
    await world.apply(world.plan(unrecorded), () => ({ outcome: doubt, saves: [b], late: 9000 }))
    expect(world.item(b, 'cache_error_code')).toBeUndefined()
    await world.apply(world.plan({ [b]: { cache_error_code: old } }))
    await world.clock.drive(world.clock.sleep(60_000))
    expect(Object.fromEntries(world.truth.get(b) ?? [])).toEqual({ cache_error_code: old })
    expect(world.item(b, 'error_bcache')).toBeUndefined()
  })

  it('leaves the old item of a domain that is refused, and switches the others', async () => {
    await world.apply(world.plan({ [b]: { cache_error_code: old } }))
    const both = { [a]: { error_bcache: next }, [b]: { error_bcache: next } }
    await world.apply(world.plan(both), (_call, domains) =>
      domains.includes(b) ? { outcome: bad } : { outcome: good },
    )
    expect(world.item(a, 'cache_error_code')).toBeUndefined()
    expect(world.item(a, 'error_bcache')).toMatchObject({ status: 'confirmed' })
    expect(world.item(b, 'cache_error_code')).toMatchObject({ status: 'confirmed' })
    expect(world.item(b, 'error_bcache')).toBeUndefined()
  })

  it('leaves the old item if it is refused', async () => {
    const result = await world.apply(planSwitch(), () => ({ outcome: bad }))
    expect(result).toMatchObject({ refused: 1, inDoubt: 0 })
    expect(world.item(a, 'cache_error_code')).toMatchObject({
      status: 'confirmed',
      candidates: [old],
    })
    expect(world.item(a, 'error_bcache')).toBeUndefined()
  })
})
