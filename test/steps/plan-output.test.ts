import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
setStage()

describe('the text of a plan', () => {
  const text = async (config: JsonObject) => (await place.manifest(www, config).cli('plan')).out

  it('has a symbol for each action', async () => {
    expect(
      await text({
        timeout: { time: 60 },
        ip_black_list: { list: ['192.0.2.1'] },
        origin_host: { host: 'o.example.net' },
      }),
    ).toMatch(/ {2}\+ timeout/)
    await place.settle()
    const plan = await text({
      timeout: { time: 61 },
      ip_white_list: { list: ['192.0.2.1'] },
      referer: { $unset: true },
    })
    expect(plan).toMatch(/ {2}~ timeout/)
    expect(plan).toMatch(/ {2}- ip_black_list {2}emptied by ip_white_list/)
    expect(plan).toMatch(/ {2}\+ ip_white_list/)
    expect(plan).toMatch(/ {2}○ origin_host {2}no longer managed; the service keeps its value/)
    expect(plan).toMatch(/ {2}- referer {2}reset to unset/)
  })

  itLong('warns once that an unrecorded item is emptied', async () => {
    place.manifest(www, { ip_white_list: { list: ['192.0.2.1'] } })
    const warning = 'ip_white_list empties ip_black_list, which is not recorded'
    expect((await place.cli('plan')).err).toContain(warning)
    expect(await place.json('plan')).toMatchObject({ warnings: [expect.stringContaining(warning)] })
    await place.settle()
    expect(
      await place.manifest(www, { ip_white_list: { list: ['192.0.2.2'] } }).json('plan'),
    ).toMatchObject({ warnings: [] })
  })
})

describe('$unset of an item without a documented reset', () => {
  itLong('is exit 1 with a diagnostic for every command, and nothing is sent', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const before = (await fetchWrites(emulator)).length
    place.manifest(www, { timeout: { $unset: true } })
    for (const command of [['validate'], ['plan', '--detailed-exitcode'], ['apply', '--yes']]) {
      const result = await place.json(...command)
      expect(result['diagnostics']).toMatchObject([
        { code: 'unset-unavailable', item: 'timeout', domain: www, pointer: '/config/timeout' },
      ])
      expect((await place.cli(...command)).code).toBe(1)
    }
    expect(await fetchWrites(emulator)).toHaveLength(before)
    expect({ items: await place.recorded(www) }).toMatchObject({
      items: { timeout: { status: 'confirmed' } },
    })
  })
})

describe('questions', () => {
  beforeEach(() => place.manifest(www, { timeout: { time: 60 } }))

  it('are asked once, after the plan, with the number of writes', async () => {
    const asked: string[] = []
    place.ask = (question) => {
      asked.push(question)
      return Promise.resolve(true)
    }
    const { code, out } = await place.cli('apply')
    expect([code, asked, out]).toEqual([
      0,
      [expect.stringContaining('1 write?')],
      expect.stringContaining('+ timeout'),
    ])
    await place.cli('apply')
    expect(asked).toHaveLength(1)
  })

  it('that are declined cancel the apply, which is no error', async () => {
    place.ask = () => Promise.resolve(false)
    const { code, err } = await place.cli('apply')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^Apply cancelled: nothing was sent\.$/m),
    ])
    expect(err).not.toContain('error:')
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('are never asked with --json or without a terminal: exit 1 names the flag', async () => {
    place.ask = () => Promise.reject(new TypeError('expected no question'))
    expect(await place.json('apply')).toMatchObject({
      code: 'declined',
      hint: expect.stringContaining('--yes') as string,
    })
    place.ask = null
    const { code, err } = await place.cli('apply')
    expect([code, err]).toEqual([1, expect.stringContaining('--yes')])
    expect(await fetchWrites(emulator)).toEqual([])
  })
})

describe('the output on a terminal', () => {
  it('wraps notes and errors, and keeps commands and paths whole', async () => {
    place.env['NO_COLOR'] = '1'
    place.manifest(www, {
      ip_black_list: { list: ['203.0.113.9'] },
      visit_deny_whitelist: [{ url: '/a', turn_on: true }],
    })
    for (const args of [
      ['plan'],
      ['stats', '--from', 'x'],
      ['plan', '--target', 'c.*', '--lock-timeout'],
      ['rollback', '--lock-timeout', 'x'],
    ]) {
      place.onTerminal = false
      const piped = await place.cli(...args)
      place.onTerminal = true
      const { code, err } = await place.cli(...args)
      expect([code, err.replace(/\s+/g, ' ')]).toEqual([piped.code, piped.err.replace(/\s+/g, ' ')])
      expect(err.split('\n').filter((line) => line.length > 80)).toEqual([])
      for (const [quoted] of piped.err.matchAll(/"[^"]*"/g)) expect(err).toContain(quoted)
    }
    expect((await place.cli('plan')).err.split('\n').length).toBeGreaterThan(3)
  })
})

it('an interrupt ends an apply with one sentence and the next command', async () => {
  for (let i = 0; i < 12; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 30 + i } })
  const stop = new AbortController()
  place.signal = stop.signal
  place.onStderr = (text) => {
    if (text.startsWith('confirmed')) stop.abort()
  }
  const { out, err } = await place.cli('apply', '--yes')
  const [, confirmed, left] =
    /^Interrupted: (\d+) of 12 writes confirmed, (\d+) never sent; "edgewise apply" sends/m.exec(
      out,
    ) ?? []
  expect(Number(confirmed) + Number(left)).toBe(12)
  expect(Number(left)).toBeGreaterThan(3)
  expect(err).not.toContain('not sent')
})

it.each([
  [20, 20],
  [21, 0],
])('an apply of %i writes on a terminal has %i lines and one live line', async (writes, lines) => {
  for (let i = 0; i < writes; i++)
    place.manifest(`d${i}.example.com`, { timeout: { time: 30 + i } })
  place.onTerminal = true
  const { code, err } = await place.cli('apply', '--yes', '--no-color')
  expect([
    code,
    err.match(/^.*confirmed {2}write .* {2}timeout on d\d+\.example\.com$/gm) ?? [],
  ]).toEqual([0, expect.objectContaining({ length: lines })])
  expect(err).toMatch(
    new RegExp(`\r\u001b\\[K█{10} ${writes}/${writes} writes · recording\r\u001b\\[K$`),
  )
})
