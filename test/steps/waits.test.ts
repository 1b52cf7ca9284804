import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { buildLockPath } from '../../src/state/format/state-paths.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { startAnsweringService, type Answer } from './answering-service.ts'
import { Place } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

setStage()

describe('a long wait prints one line with its reason and its end', () => {
  beforeEach(() => {
    enterPlace(new Place(emulator.url, '', { limits: '{callsPerMinute: 2, domainsPerWrite: 1}' }))
    for (const n of [1, 2, 3]) place.manifest(`d${n}.example.com`, { timeout: { time: `1${n}` } })
  })

  it('for the call budget', async () => {
    const { err } = await place.cli('apply', '--yes')
    const [wait = '', ...others] = err.match(/waiting \d+ s .*/g) ?? []
    expect(others).toEqual([])
    expect(wait).toMatch(
      /^waiting (59|60) s before write \d and maybe others, until \d\d:\d\d:\d\d: /,
    )
    expect(wait).toMatch(/: the call budget is used up: 2 calls in this minute$/)
  })

  it('for a burst, which the plan counts', async () => {
    place.write(
      'edgewise.yaml',
      place.read('edgewise.yaml').replace('callsPerMinute: 2', 'burst: 2 per 9s'),
    )
    const { summary } = await place.json('plan')
    expect(summary).toMatchObject({ writes: 3, seconds: 0, totalSeconds: 9 })
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err.match(/waiting \d+ s .*/g)]).toEqual([
      0,
      [expect.stringMatching(/: the call budget is used up: 2 calls in 9 s \(limits\.burst\)$/)],
    ])
  })

  it('for the lock', async () => {
    place.manifest('d3.example.com', {})
    const folder = join(place.root, '.edgewise/state', buildLockPath(emulator.url, 'default'))
    const register = createFolderRegister(realDisk, folder, 'other')
    const holder = { token: 't', who: 'ci@runner', reason: 'apply', boot: 'elsewhere', pid: 7 }
    await register.compareAndSwap(null, JSON.stringify(holder))
    const { code, err } = await place.cli('apply', '--yes', '--lock-timeout', '100')
    expect([code, err.match(/waiting for the lock of ci@runner \(.*/g)]).toEqual([
      0,
      [expect.stringMatching(/, until \d\d:\d\d:\d\d at the latest$/)],
    ])
  })

  it('unless --quiet is passed', async () => {
    expect((await place.cli('apply', '--yes', '--quiet')).err).toBe('')
  })
})

it('a day whose calls are used up ends an apply, the waves that follow included', async () => {
  let calls = 0
  const lastOfDay: Answer = () => {
    calls++
    const headers = { 'X-Ratelimit-Grad': 'day', 'X-Ratelimit-Remaining': '0' }
    return [200, { code: 0 }, { ...headers, 'X-Retry-After': '7200' }]
  }
  const { url } = await startAnsweringService(lastOfDay)
  enterPlace(new Place(url, 'rollout: {waves: [1, 100%], pause: 0s}\n'))
  for (const n of [1, 2, 3]) place.manifest(`d${n}.example.com`, { timeout: { time: `1${n}` } })
  const { code, out } = await place.cli('apply', '--yes')
  expect([calls, code]).toEqual([1, 3])
  expect(out).toMatch(
    /in this day; its count resets at [\d-]{10}T[\d:]{8}Z \(in (2 h|1 h 59 min)\), later than/,
  )
  expect(out).toContain('1 confirmed, 2 not sent')
})
