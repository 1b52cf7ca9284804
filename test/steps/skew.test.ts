// @module-tag often
// @module-tag nightly
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { fetchConfigs, fetchWrites, Place } from './cli.ts'
import {
  deadOrigin,
  emulator,
  enterPlace,
  place,
  runInPause,
  setStageInTime,
  time,
} from './stage.ts'

const minute = 60_000
const hour = 60 * minute
const good = '192.0.2.10'

setStageInTime()

function origins(address: string, domains = 6): void {
  for (let i = 0; i < domains; i++)
    place.manifest(`d${i}.example.com`, { origin: { default_master: address } })
}

/** Creates domains that were configured two hours ago, by a clock with this error. */
async function running(skew: number, rollout: string, more = ''): Promise<void> {
  time.skew = skew
  enterPlace(new Place(emulator.url, `rollout: ${rollout}\n${more}`))
  origins(good)
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 2 * hour
}

async function countDead(): Promise<number> {
  return Object.values(await fetchConfigs(emulator)).filter(
    ({ origin }) => (origin as JsonObject)['default_master'] === deadOrigin,
  ).length
}

const watched = '{waves: [1, 100%], pause: 0s, health: {}}'
const skews: [string, number][] = [
  ['10 min behind', -10 * minute],
  ['2 h ahead of', 2 * hour],
]

describe.each(skews)('a clock that is %s the service', (text, skew) => {
  it('does not spread a dead origin, and is reported once', async () => {
    await running(skew, watched)
    origins(deadOrigin)
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([3, expect.stringContaining('worse      wave 1: 5xx rose on')])
    expect(await countDead()).toBe(1)
    expect(err.split(`this machine's clock is ${text} the service's`)).toHaveLength(2)
  })

  it('passes a good change in the same time as a right clock', async () => {
    await running(skew, watched)
    origins('192.0.2.11')
    const start = time.now
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    // Two waves, and the window for which the first one is held.
    expect((time.now - start) / minute).toBeLessThan(2 * 36 + 15)
  })

  it('does not decide a freeze', async () => {
    const day = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`
    const [from, to] = [time.now + 2 * hour - minute, time.now + 2 * hour + minute]
    const freeze = `guards: {freeze: [{from: "${day(from)}", to: "${day(to)}"}]}\n`
    await running(skew, '{}', freeze)
    origins('192.0.2.11')
    const before = (await fetchWrites(emulator)).length
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('freeze: nothing is applied from')])
    expect(await fetchWrites(emulator)).toHaveLength(before)
    time.now += 2 * minute
    expect((await place.cli('apply', '--yes')).code).toBe(0)
  })
})

it('a clock that differs by less than a minute is not reported', async () => {
  await running(-50_000, watched)
  origins('192.0.2.11')
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err]).toEqual([0, expect.not.stringContaining("this machine's clock")])
})

describe('without a Date', () => {
  /** Removes the `Date` of each answer. */
  function removeDates(): void {
    const network = createNetworkTransport()
    place.transport = async (request) => {
      const answer = await network(request)
      return { ...answer, header: (name) => (name === 'Date' ? null : answer.header(name)) }
    }
  }

  it.each(['wait', 'pass', 'stop'])('no wave passes (onLittleData: %s)', async (onLittleData) => {
    await running(0, `{waves: [1, 100%], pause: 0s, health: {onLittleData: ${onLittleData}}}`)
    removeDates()
    origins('192.0.2.11')
    const start = time.now
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out.replace(/\s+/g, ' ')]).toEqual([3, expect.stringContaining('had no Date)')])
    expect(out.replace(/\s+/g, ' ')).toContain("this machine's clock alone does not pass a wave")
    expect((await fetchWrites(emulator)).at(-1)?.domains).toHaveLength(1)
    expect(time.now - start > 3 * hour).toBe(onLittleData !== 'stop')
  })

  it('a worse wave is found all the same', async () => {
    await running(0, watched)
    removeDates()
    origins(deadOrigin)
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([3, expect.stringContaining('worse      wave 1')])
  })
})

describe('a pause that another machine resumes', () => {
  /** Interrupts a rollout 4 minutes into its pause; the machine's clock is 3 hours behind then. */
  async function interrupt(): Promise<void> {
    enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 10m}\n'))
    time.skew = -3 * hour
    origins(good)
    const stop = new AbortController()
    place.signal = stop.signal
    runInPause(async () => stop.abort())
    const sleep = time.onSleep
    time.onSleep = async (ms, name) => {
      if (name === 'rollout') time.now -= ms - 4 * minute
      await sleep?.(ms, name)
    }
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    delete time.onSleep
    place.signal = new AbortController().signal
  }

  async function resume(): Promise<number> {
    time.skew = hour
    const start = time.now
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    return (time.now - start) / minute
  }

  it("waits for the rest of it, by the service's time", async () => {
    await interrupt()
    expect(await resume()).toBeCloseTo(6, 0)
  })

  it('waits in full if the end of the wave is known by the clock of a machine only', async () => {
    await interrupt()
    const [file = ''] = place.findRolloutFiles()
    const path = join(place.root, file)
    const stored = JSON.parse(readFileSync(path, 'utf8')) as {
      waves: { applied: JsonObject | null }[]
    }
    const waves = stored.waves.map(({ applied, ...wave }) => ({
      ...wave,
      applied: applied === null ? null : { ...applied, serviceFrom: null, serviceTo: null },
    }))
    writeFileSync(path, JSON.stringify({ ...stored, waves }))
    expect(await resume()).toBeCloseTo(10, 0)
  })
})

it('a change of a machine with a wrong clock is not part of the next baseline', async () => {
  await running(-3 * hour, watched)
  for (const origin of [deadOrigin, good]) {
    origins(origin)
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    time.now += 5 * minute
  }
  time.skew = 0
  origins(deadOrigin)
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err]).toEqual([3, expect.stringContaining('collecting the baseline')])
  expect(await countDead()).toBe(1)
})
