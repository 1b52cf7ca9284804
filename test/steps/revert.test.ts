import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchWrites, Place } from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'
import { itLong } from '../runs.ts'

const hour = 3_600_000
const [count, good, other] = [4, '192.0.2.10', '192.0.2.11']
const name = (i: number) => `d${i}.example.com`
setStageInTime()

/** Opens a workspace whose rollouts have waves, with domains that were configured before. */
async function open(rollout: string): Promise<void> {
  const waves = `waves: [1, 100%], pause: 10m, revert: fast`
  enterPlace(new Place(emulator.url, `rollout: {${waves}${rollout}}\n`))
  origins(good)
  await settle()
}

function origins(address: string, from = 0): void {
  for (let i = from; i < count; i++)
    place.manifest(name(i), { origin: { default_master: address } })
}

/** Applies without waves, and lets time pass. */
async function settle(): Promise<void> {
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 2 * hour
}

/** Returns the waves of the writes of a plan, and its sentence about a revert. */
async function plan(...args: string[]): Promise<{ waves: number[]; note: string }> {
  const { writes, warnings } = (await place.json('plan', ...args)) as {
    writes: { wave: number }[]
    warnings: string[]
  } & JsonObject
  const note = warnings.find((each) => each.includes('confirmed and healthy')) ?? ''
  return { waves: writes.map(({ wave }) => wave), note }
}

const [inWaves, atOnce] = [[1, 2], [1]]

describe('rollout.revert: fast', () => {
  itLong('sends a change back to confirmed values at once, and says so', async () => {
    await open('')
    origins(other)
    expect(await plan()).toEqual({ waves: inWaves, note: '' })
    await settle()
    origins(good)
    const { waves, note } = await plan()
    expect(waves).toEqual(atOnce)
    expect(note).toContain('all changes go back to values that were confirmed and healthy')
    const [before, start] = [(await fetchWrites(emulator)).length, time.now]
    const applied = await place.cli('apply', '--yes')
    expect(applied.code).toBe(0)
    expect(applied.err.replaceAll(/\s+/g, ' ')).toContain('applied at once, without waves')
    expect(await fetchWrites(emulator)).toHaveLength(before + 1)
    expect(time.now - start).toBeLessThan(10 * 60_000)
    expect(await plan()).toEqual({ waves: [], note: '' })
  })

  itLong('is off by default', async () => {
    await open('')
    origins(other)
    await settle()
    origins(good)
    place.write('edgewise.yaml', place.read('edgewise.yaml').replace(', revert: fast', ''))
    expect(await plan()).toEqual({ waves: inWaves, note: '' })
  })

  it('sends all in waves if a part is new, and says why', async () => {
    await open('')
    origins(other)
    await settle()
    origins(good)
    place.manifest(name(0), { origin: { default_master: '192.0.2.12' } })
    const { waves, note } = await plan()
    expect(waves).toEqual(inWaves)
    expect(note).toContain('3 of 4 changes go back')
    expect(note).toContain('applied in waves')
  })

  it('sends in waves what somebody has gone back from, and what was never applied', async () => {
    await open('')
    origins(other)
    await settle()
    origins(good)
    await settle()
    origins(other)
    expect(await plan()).toEqual({ waves: inWaves, note: '' })
    origins('192.0.2.12')
    expect(await plan()).toEqual({ waves: inWaves, note: '' })
  })

  it('unsets at once what was not set before', async () => {
    await open('')
    const list = { list: ['192.0.2.1'] }
    const set = (more: JsonObject) => {
      for (let i = 0; i < count; i++)
        place.manifest(name(i), { origin: { default_master: good }, ...more })
    }
    set({ ip_black_list: list })
    await settle()
    set({ ip_black_list: { $unset: true } })
    expect((await plan()).waves).toEqual(atOnce)
  })

  it('waits for the approval of a wave', async () => {
    await open('')
    origins(other)
    await settle()
    origins(good)
    const settings = place.read('edgewise.yaml')
    place.write('edgewise.yaml', settings.replace('revert', 'approval: [2], revert'))
    expect(await plan()).toEqual({ waves: inWaves, note: '' })
  })

  itLong('is the same in a saved plan, which is stale once it would go in waves', async () => {
    await open('')
    origins(other)
    await settle()
    origins(good)
    expect((await plan('--out', 'plan.json')).waves).toEqual(atOnce)
    const settings = place.read('edgewise.yaml')
    place.write('edgewise.yaml', settings.replace('revert: fast', 'revert: waves'))
    const refused = await place.cli('apply', 'plan.json')
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('"grouping", "rollout"'),
    ])
    place.write('edgewise.yaml', settings)
    const before = (await fetchWrites(emulator)).length
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await fetchWrites(emulator)).toHaveLength(before + 1)
  })

  itLong('goes back to no value that a health check found worse', async () => {
    await open(', health: {onFailure: stop, grain: hour, window: 1h}')
    origins(deadOrigin)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    // The value of the first wave stays, until another one is tried.
    origins(other)
    await settle()
    origins(good)
    expect((await plan()).waves).toEqual(atOnce)
    place.manifest(name(0), { origin: { default_master: deadOrigin } })
    expect((await plan('--target', name(0))).note).toBe('')
  })
})
