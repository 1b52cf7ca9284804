// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { checkWrites } from '../state/checked-disk.ts'
import { place, setStage } from './stage.ts'

const www = 'www.example.com'
const wait = /waiting 40 s before write 1 .*an earlier call may still change these items/

setStage()

/** Applies a value, and dies before an outcome is recorded. */
async function dieInFlight(time: number): Promise<void> {
  place.manifest(www, { timeout: { time } })
  place.disk = checkWrites((path) => {
    if (path.includes('/domains/')) throw new TypeError('killed')
  })
  await expect(place.cli('apply', '--yes')).rejects.toThrow('internal error')
  place.disk = realDisk
  place.otherProcessesDead = true
}

async function forget(): Promise<void> {
  expect(await place.cli('state', 'forget', www, '--yes')).toMatchObject({ code: 0 })
}

async function importTime(time: string, ...more: string[]): Promise<void> {
  place.write('live.json', JSON.stringify({ [www]: { timeout: { time } } }))
  const { code, err } = await place.cli('import', 'live.json', ...more)
  expect([code, err]).toEqual([
    0,
    expect.stringContaining(`an apply that died may still change imported items of ${www}`),
  ])
}

async function applyTime(time: number): Promise<string> {
  place.manifest(www, { timeout: { time } })
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err]).toEqual([0, expect.anything()])
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  return err
}

describe('an item that a dead apply was writing', () => {
  beforeEach(async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    await dieInFlight(61)
  })

  it('waits before another value after import --replace', async () => {
    await importTime('60', '--replace')
    place.manifest(www, { timeout: { time: 60 } })
    const planned = await place.cli('plan')
    expect(planned.out).toContain('No changes')
    expect(planned.err.replace(/\s+/g, ' ')).toBe(
      'note: A call of an apply that died could still change imported items when they were ' +
        `imported: timeout of ${www}. To be certain of their values, import them again. `,
    )
    expect((await place.cli('plan', '--target', www, '--quiet')).err).toBe('')
    expect(await applyTime(62)).toMatch(wait)
    expect((await place.cli('plan')).err).toBe('')
  })

  it('waits before another value after state forget', async () => {
    await forget()
    expect(await applyTime(62)).toMatch(wait)
    expect(await applyTime(63)).not.toMatch(wait)
  })

  it('is sent at once with the same value after state forget', async () => {
    await forget()
    expect(await applyTime(61)).not.toMatch(wait)
    expect(await applyTime(62)).toMatch(wait)
  })

  it('waits before another value after state forget and import', async () => {
    await forget()
    await importTime('60')
    expect(await applyTime(62)).toMatch(wait)
  })

  it('waits before another value after its release', async () => {
    await place.manifest(www, {}).settle()
    expect(await applyTime(62)).toMatch(wait)
  })
})
