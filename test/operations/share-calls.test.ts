// @module-tag often
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { CallBudget } from '../../src/service/write/call-budget.ts'
import type { CallLimit } from '../../src/service/write/next-call.ts'
import { openCallLedger } from '../../src/state/store/call-ledger.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { maxPerMinute, maxPerWindow } from '../service/budget-world.ts'
import { FakeClock } from '../service/fake-clock.ts'
import { Place, startService, type ManualTime } from '../steps/cli.ts'

const minute = 60_000
const limit = 6
/** A power cut is not tested here, and a sync would outlast the fake clock. */
const disk: Disk = { ...realDisk, sync: () => Promise.resolve() }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-user-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Sends calls of a process, four at a time; each arrives when it is sent, and takes 300 ms. */
async function send(
  name: string,
  calls: number,
  clock: FakeClock,
  arrived: number[],
  burst: CallLimit | null = null,
) {
  const readClocks = () => ({ boot: 'boot', now: clock.now(), up: clock.monotonic() })
  const register = createFolderRegister(disk, join(folder, 'budget'), name)
  const ledger = openCallLedger(register, name, '', readClocks)
  const remember = async () => undefined
  const budget = new CallBudget(limit, 300_000, clock, [], remember, 0, ledger, burst)
  let rest = calls
  const worker = async () => {
    while (rest-- > 0) {
      expect(await budget.acquire()).toBe(true)
      arrived.push(clock.time)
      await clock.sleep(300)
      await budget.release(true)
    }
  }
  await Promise.all(Array.from({ length: 4 }, worker))
}

describe('the calls of two processes with separate stores', () => {
  it('stay within the call rate together, at the same time and in turn', async () => {
    const clock = new FakeClock()
    const arrived: number[] = []
    await clock.drive(Promise.all([send('one', 9, clock, arrived), send('two', 9, clock, arrived)]))
    await clock.drive(send('three', 6, clock, arrived))
    expect(arrived).toHaveLength(24)
    expect(maxPerMinute(arrived)).toBe(limit)
    const possible = (24 / limit - 1) * minute
    expect((arrived.at(-1) ?? Infinity) - (arrived[0] ?? 0)).toBeLessThan(possible + 10_000)
  })
})

it('the calls of two processes stay within their burst limit together', async () => {
  const clock = new FakeClock()
  const arrived: number[] = []
  const burst = { calls: 2, windowMs: 5000 }
  const both = ['one', 'two'].map((name) => send(name, 3, clock, arrived, burst))
  await clock.drive(Promise.all(both))
  expect(arrived).toHaveLength(6)
  expect(maxPerWindow(arrived, 5000)).toBe(2)
})

describe('two workspaces with folder stores', () => {
  let emulator: Emulator
  let time: ManualTime
  let places: Place[]
  beforeEach(async () => {
    emulator = await startService()
    time = { now: Date.UTC(2026, 10, 20) }
    places = ['one', 'two'].map((name) => {
      const place = new Place(emulator.url, '', {
        limits: `{callsPerMinute: ${limit}, domainsPerWrite: 1}`,
      })
      for (let n = 0; n < 5; n++)
        place.manifest(`${name}${n}.example.com`, { timeout: { time: '9' } })
      Object.assign(place, { time, env: { ...place.env, XDG_STATE_HOME: folder } })
      return place
    })
  })
  afterEach(async () => {
    for (const place of places) place.remove()
    await emulator.close()
  })
  const apply = () => Promise.all(places.map((place) => place.cli('apply', '--yes')))

  it('share the call budget of their user, which only the user can read', async () => {
    for (const place of places) {
      expect(await place.cli('apply', '--yes')).toMatchObject({ code: 0 })
      time.now += 5000
    }
    expect(time.now - Date.UTC(2026, 10, 20)).toBeGreaterThanOrEqual(minute)
    const files = readdirSync(join(folder, 'edgewise'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, 'edgewise', name))
      .filter((path) => path.endsWith('.json'))
    expect(files.length).toBeGreaterThan(0)
    for (const path of files) expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(files.at(-1) ?? '', 'utf8')).toContain('edgewise.budget/1')
  })

  it('go on with their own budgets and one note each if that folder is unusable', async () => {
    writeFileSync(join(folder, 'edgewise'), '')
    for (const { code, err } of await apply()) {
      expect([code, err.match(/is not shared with other workspaces/g)]).toEqual([
        0,
        ['is not shared with other workspaces'],
      ])
    }
    expect(time.now - Date.UTC(2026, 10, 20)).toBeLessThan(minute)
  })
})
