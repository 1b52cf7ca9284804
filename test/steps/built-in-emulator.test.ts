import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { checkWrites } from '../state/checked-disk.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const noon = Date.UTC(2026, 10, 20, 12)

const disk: Disk = { ...realDisk, sync: () => Promise.resolve() }

let place: Place
afterEach(() => place.remove())

function enter(limits: string): void {
  place = new Place('emulator', '', { limits })
  place.time = { now: noon }
  // A power cut is not tested here.
  place.disk = disk
}

/** Gives so many domains a value of their own: each needs a write. */
function declareDomains(count: number): void {
  for (let i = 0; i < count; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 5 + i } })
}

/** Applies, and returns the time that passed, seconds. */
async function apply(): Promise<number> {
  const start = place.time?.now ?? 0
  expect(await place.cli('apply', '--yes')).toMatchObject({ code: 0 })
  return ((place.time?.now ?? 0) - start) / 1000
}

describe('the emulator inside the process', () => {
  it('keeps memory low in an apply, not in a plan', async () => {
    enter('{}')
    declareDomains(2)
    const at: string[] = []
    place.onSaveMemory = () => at.push('saving')
    place.onStderr = (text) => at.push(...(text.match(/confirmed/g) ?? []))
    await place.cli('plan')
    expect(at).toEqual([])
    await apply()
    expect(at).toEqual(['saving', 'confirmed', 'confirmed'])
  })

  itLong('has no call rate: 31 writes take no minute, and the plan says so', async () => {
    enter('{}')
    declareDomains(31)
    expect(await place.json('plan')).toMatchObject({
      summary: { writes: 31, seconds: 0, totalSeconds: 0 },
    })
    expect(await apply()).toBeLessThan(1)
  })

  it('keeps a call rate that edgewise.yaml has', async () => {
    enter('{callsPerMinute: 2}')
    declareDomains(3)
    expect(await place.json('plan')).toMatchObject({ summary: { writes: 3, seconds: 60 } })
    const { err } = await place.cli('apply', '--yes')
    expect(err).toContain('waiting 60 s before write 3')
  })
})

describe('an apply that died with its emulator', () => {
  beforeEach(async () => {
    enter('{}')
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    place.manifest(www, { timeout: { time: 61 } })
    place.disk = checkWrites((path) => {
      if (path.includes('/domains/')) throw new TypeError('killed')
    }, disk)
    await expect(place.cli('apply', '--yes')).rejects.toThrow('internal error')
    place.disk = disk
    place.otherProcessesDead = true
  })

  itLong('makes the next one not wait before another value', async () => {
    place.manifest(www, { timeout: { time: 62 } })
    expect(await apply()).toBeLessThan(1)
    expect((await place.json('plan'))['changes']).toEqual([])
  })

  itLong('leaves no mark on imported items', async () => {
    place.write('live.json', JSON.stringify({ [www]: { timeout: { time: '60' } } }))
    const { code, err } = await place.cli('import', 'live.json', '--replace')
    expect([code, err]).toEqual([0, expect.not.stringContaining('may still change')])
    place.manifest(www, { timeout: { time: 62 } })
    expect(await apply()).toBeLessThan(1)
  })
})
