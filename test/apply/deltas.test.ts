import { describe, expect, it } from 'vitest'
import { buildBatch } from '../../src/engine/apply/intent-batches.ts'
import { doubt, good, World } from './world.ts'

const names = Array.from({ length: 4 }, (_, i) => `d${i}.example.com`)
const headers = (...list: string[]) => ({
  add_response_head: { type: 'reset', list: list.map((name) => ({ name, value: 'v' })) },
})

/** Creates domains that share only one removed and one added header, which takes two writes. */
function twoDeltas(): { world: World; plan: ReturnType<World['plan']> } {
  const world = new World()
  for (const [i, name] of names.entries()) world.holds(name, headers('Old', `Own-${i}`))
  const plan = world.plan(
    Object.fromEntries(names.map((name, i) => [name, headers('New', `Own-${i}`)])),
  )
  expect(new Set(plan.writes.map((write) => write.items['add_response_head']?.name))).toEqual(
    new Set(['add', 'remove']),
  )
  return { world, plan }
}

describe('two deltas of one item', () => {
  it('are sent one after the other and lead to the desired value', async () => {
    const { world, plan } = twoDeltas()
    expect(await world.apply(plan)).toMatchObject({ confirmed: 2, notSent: 0 })
    expect(world.item(names[1] ?? '', 'add_response_head')).toMatchObject({
      status: 'confirmed',
      candidates: [headers('New', 'Own-1').add_response_head],
    })
  })

  it('skip the second when the first is in-doubt, and are written whole next', async () => {
    const { world, plan } = twoDeltas()
    const result = await world.apply(plan, () => ({ outcome: doubt }))
    expect(result).toMatchObject({ inDoubt: 1, notSent: 1, stopped: null })
    expect(world.calls).toHaveLength(1)
    expect(world.events).toContainEqual(
      expect.objectContaining({
        type: 'write.not-sent',
        message: expect.stringContaining('in-doubt'),
      }),
    )
    const next = world.plan(
      Object.fromEntries(names.map((name, i) => [name, headers('New', `Own-${i}`)])),
    )
    expect(
      new Set(next.writes.flatMap((write) => Object.values(write.items).map((form) => form.name))),
    ).toEqual(new Set(['replace']))
    expect(await world.apply(next, () => ({ outcome: good }))).toMatchObject({ confirmed: 4 })
  })

  it('have intents with every value after either, both or none', () => {
    const { world, plan } = twoDeltas()
    const recording = {
      recordedAt: '2026-01-01T00:00:00.000Z',
      apply: 'a',
      secrets: { listTemplates: () => ({}) },
      itemKeys: {},
    }
    const batch = buildBatch(1, plan.writes, [], world.recorded(), recording, 0)
    const state = batch.intents
      .get(2)
      ?.get(names[0] ?? '')
      ?.get('add_response_head')
    const lists = (state?.candidates ?? []).map((value) =>
      (value as { list: { name: string }[] }).list.map(({ name }) => name).join(' '),
    )
    expect(lists.toSorted()).toEqual(['New Old Own-0', 'New Own-0', 'Old Own-0', 'Own-0'])
  })
})
