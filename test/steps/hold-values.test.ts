// @module-tag often
// @module-tag nightly
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SharedState, stores } from '../stories/shared-state.ts'
import { fetchConfig } from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

setStageInTime()

const hour = 3_600_000
const good = '192.0.2.10'
const name = (i: number) => `d${i}.example.com`
const rules =
  'rollout: {waves: [1, 100%], pause: 1m, health: {onFailure: rollback, grain: hour, window: 1h}}\n'

/** Writes the profile of all domains. */
function write(origin: string, more = ''): void {
  place.write(
    'profiles/web.yaml',
    `profile: web\nconfig:\n  origin: {default_master: ${origin}}\n${more}`,
  )
}

/** Returns the origin and the time-out that the service has for a domain. */
async function live(i: number): Promise<unknown[]> {
  const { origin, timeout } = (await fetchConfig(emulator, name(i))) as Record<
    string,
    Record<string, unknown> | undefined
  >
  return [origin?.['default_master'], timeout?.['time']]
}

async function summarize(): Promise<unknown> {
  const { summary } = await place.json('plan')
  const { set, change, held } = summary as Record<string, number>
  return { set, change, held }
}

describe.each(stores)('a value that was rolled back, with state in %s', (store) => {
  let shared: SharedState
  afterEach(() => shared.remove())
  beforeEach(async () => {
    shared = await SharedState.make(store)
    enterPlace(shared.create(emulator.url, 'clone', rules))
    for (let i = 0; i < 4; i++)
      place.write(`domains/${name(i)}.yaml`, `domain: ${name(i)}\nprofiles: [web]\nconfig: {}\n`)
    write(good)
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    time.now += 2 * hour
    write(deadOrigin)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
  })

  it('stays away also if a person rolled it back, until a rollback restores it', async () => {
    write('192.0.2.12')
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    const back = await place.cli('rollback', '--yes', '--target', name(0))
    expect([back.code, back.err]).toEqual([0, expect.stringContaining('They are on hold')])
    write('192.0.2.12', '  timeout: {time: 71}\n')
    expect(await summarize()).toEqual({ set: 4, change: 0, held: 1 })
    expect((await place.cli('plan')).err.replace(/\s+/g, ' ')).toMatch(
      /on hold since \S+ \S+ UTC by rollback \S+-rollback, rolled back: rolled back by/,
    )
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect([await live(0), await live(1)]).toEqual([
      [good, '71'],
      ['192.0.2.12', '71'],
    ])
    const { applies } = (await place.json('state', 'history')) as unknown as {
      applies: { id: string }[]
    }
    const rollback = applies.find(({ id }) => id.endsWith('-rollback'))?.id ?? ''
    expect((await place.cli('rollback', rollback, '--yes')).code).toBe(0)
    expect(await live(0)).toEqual(['192.0.2.12', '71'])
    expect(await summarize()).toEqual({ set: 0, change: 0, held: 0 })
  })
})
