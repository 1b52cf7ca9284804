// @module-tag often
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import { setFaults } from './cli.ts'
import { emulator, place, setStageInTime, time } from './stage.ts'

const [www, api] = ['www.example.com', 'api.example.com']
const dayMs = 86_400_000
setStageInTime()

async function loadHistory(domain = www): Promise<JsonObject> {
  const history = await place.json('state', 'history', domain)
  expect(listSchemaErrors('history', history)).toEqual([])
  return history
}

/** Lists the items of each apply, the latest first. */
async function listItems(domain = www): Promise<JsonObject[]> {
  return ((await loadHistory(domain))['applies'] as JsonObject[]).map(
    ({ items }) => items as JsonObject,
  )
}

/** Prints the history, and checks its lines. */
async function print(...more: string[]): Promise<string> {
  const { code, out } = await place.cli('state', 'history', www, ...more)
  expect(code).toBe(0)
  for (const line of out.split('\n')) {
    expect(measureWidth(line)).toBeLessThanOrEqual(80)
    expect(line).toBe(line.trimEnd())
  }
  return out
}

async function applyWith(config: JsonObject, code = 0): Promise<void> {
  time.now += 1000
  const ran = await place.manifest(www, config).cli('apply', '--yes', '--allow', 'https')
  expect([ran.code, ran.err]).toEqual([code, ran.err])
}

const confirmed = (seconds: string) => ({
  status: 'confirmed',
  candidates: [{ time: seconds }],
})

describe('state history of a domain', () => {
  it('lists what each apply intended for it, the latest first, with the outcome', async () => {
    place.env['GITHUB_ACTOR'] = 'octavia'
    await applyWith({ timeout: { time: 10 } })
    await place.manifest(api, { timeout: { time: 10 } }).settle()
    await applyWith({ timeout: { time: 11 }, https: { cert_id: 1 } })
    await applyWith({ https: { cert_id: 1 } })
    const history = await loadHistory('WWW.example.com')
    expect(history['domain']).toBe(www)
    expect(history['applies']).toMatchObject([
      {
        outcome: 'complete',
        author: 'octavia',
        items: { timeout: { before: confirmed('11'), after: null, outcome: 'released' } },
      },
      {
        items: {
          timeout: { before: confirmed('10'), after: [{ time: '11' }], outcome: 'confirmed' },
          https: { before: null, outcome: 'confirmed' },
        },
      },
      { items: { timeout: { before: null, after: [{ time: '10' }], outcome: 'confirmed' } } },
    ])
    const out = (await print()).replace(/^\d\S+/gm, 'ID').replace(/2\d{3}-\S+Z/g, 'TIME')
    expect(out).toMatch(
      new RegExp(
        `^${www}\\n\\nID {2}complete {2}no write\\n {2}TIME · 0 s · by octavia\\n` +
          ' {2}○ timeout {2}released\\n {6}no longer managed; the service kept its value\\n\\n' +
          'ID {2}complete {2}\\d confirmed\\n {2}TIME · 0 s · by octavia\\n',
      ),
    )
    expect(out).toContain('\n  ~ timeout  confirmed\n    ~ time  10 → 11\n')
    expect(out).toContain('\n  + https  confirmed\n    + cert_id ')
    expect(out).toMatch(/\n {2}\+ timeout {2}confirmed\n {4}\+ time {2}10\n$/)
  })

  it('does not say that a refused write has changed anything', async () => {
    place.groupAsDocumented()
    await applyWith({ timeout: { time: 10 } })
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    await applyWith({ timeout: { time: 11 }, https: { cert_id: 1 } }, 3)
    await setFaults(emulator, { kind: 'refuse', item: 'ip_black_list', probability: 1 })
    await applyWith({ ip_black_list: { list: ['192.0.2.1'] } }, 3)
    const message = 'item(timeout) is invalid: refused because of a configured fault'
    expect(await listItems()).toMatchObject([
      {
        ip_black_list: { before: null, outcome: 'refused' },
        https: { outcome: 'released' },
        timeout: { outcome: 'released' },
      },
      {
        timeout: { after: [{ time: '11' }], outcome: 'refused', message },
        https: { outcome: 'confirmed' },
      },
      { timeout: { outcome: 'confirmed' } },
    ])
    expect((await print()).replaceAll(/\s+/g, ' ')).toContain(
      `~ timeout refused refused by the service: ${message} ~ time 10 → 11`,
    )
  })

  it('shows an in-doubt write, then the values that the item may have', async () => {
    await applyWith({ timeout: { time: 10 } })
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    await applyWith({ timeout: { time: 11 } }, 3)
    expect((await listItems())[0]).toEqual({
      timeout: { before: confirmed('10'), after: [{ time: '11' }], outcome: 'in-doubt' },
    })
    expect(await print()).toContain(
      '  ~ timeout  in-doubt\n      the write may have taken effect\n    ~ time  10 → 11\n',
    )
    await setFaults(emulator)
    time.now += dayMs
    await applyWith({ timeout: { time: 12 } })
    const [last, earlier] = await listItems()
    expect(last).toEqual({
      timeout: {
        before: { status: 'in-doubt', candidates: [{ time: '10' }, { time: '11' }] },
        after: [{ time: '12' }],
        outcome: 'confirmed',
      },
    })
    expect(earlier).toMatchObject({ timeout: { outcome: 'in-doubt' } })
    expect(await print()).toContain(
      '  ~ timeout  confirmed\n      before  maybe time 10\n      before  maybe time 11\n' +
        '      after   time 12\n',
    )
  })

  it('says of a change that something else replaced only what the apply confirms', async () => {
    await applyWith({ timeout: { time: 10 } })
    await setFaults(emulator, { kind: 'refuse', item: 'https', probability: 1 })
    await applyWith({ timeout: { time: 11 }, https: { cert_id: 1 } }, 3)
    place.write('o.json', JSON.stringify({ [www]: { timeout: { time: '30' } } }))
    expect((await place.cli('import', 'o.json', '--replace')).code).toBe(0)
    expect(await listItems()).toMatchObject([
      { timeout: { outcome: 'not-known' }, https: { outcome: 'refused' } },
      { timeout: { outcome: 'confirmed' } },
    ])
    expect((await place.cli('state', 'forget', www, '--yes')).code).toBe(0)
    expect(await listItems()).toMatchObject([
      { timeout: { outcome: 'not-recorded' } },
      { timeout: { outcome: 'confirmed' } },
    ])
  })

  it('counts pruned applies, which may have written it', async () => {
    await applyWith({ timeout: { time: 10 } })
    time.now += 100 * dayMs
    place.manifest(api, { timeout: { time: 20 } })
    await applyWith({ timeout: { time: 11 } })
    await place.cli('state', 'prune', '--keep', '30d', '--yes')
    const history = await loadHistory()
    expect([history['applies'], history['pruned']]).toEqual([[expect.anything()], 1])
    const { err } = await place.cli('state', 'history', www)
    expect(err).toContain('1 pruned apply may have written it: that is not stored any more.')
    const { code, err: unknown } = await place.cli('state', 'history', 'c.example.com')
    expect([code, unknown.replace(/\s+/g, ' ')]).toEqual([
      1,
      'error: no apply has written "c.example.com" as far as is stored, and state has nothing of ' +
        'it 1 pruned apply may have written it: that is not stored any more. "edgewise state ' +
        'list" lists all recorded domains. ',
    ])
  })

  it('of an imported domain is empty; one that is unknown is an error', async () => {
    place.manifest(www, { timeout: { time: 10 } })
    place.write('o.json', JSON.stringify({ [www]: { timeout: { time: '10' } } }))
    expect((await place.cli('import', 'o.json')).code).toBe(0)
    expect(await print()).toBe(`${www}\n\nNo apply has written it as far as is stored.\n`)
    expect(await loadHistory()).toEqual({
      format: 'edgewise.history/1',
      domain: www,
      applies: [],
    })
    const { code, err } = await place.cli('state', 'history', 'c.example.com')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('no apply has written "c.example.com", and state has nothing of it'),
    ])
  })

  it('shows secrets as fingerprints', async () => {
    const config = { pattern: '.*', time_format: 'timestamp', deadtime: 1, req_uri_type: 1 }
    const [first, second] = ['key-canary-one', 'key-canary-two']
    for (const key of [first, second]) await applyWith({ visit_timestamp: { ...config, key } })
    const texts = [await print(), await print('-v'), JSON.stringify(await loadHistory())]
    for (const text of texts) expect(text).not.toMatch(/canary/)
    expect(texts[0]).toMatch(/~ key {2}\(secret \w{8}\) → \(secret \w{8}\)\n/)
    expect(texts[2]).toMatch(/"key":\{"\$secret":"scrypt:/)
  })

  it('escapes invisible characters, and shortens long values unless -v is given', async () => {
    const evil = 'a\u001b[31m\u202eb'
    place.env['GITHUB_ACTOR'] = evil
    const list = Array.from({ length: 200 }, (_, i) => `10.0.0.${i + 1}`)
    await applyWith({
      ip_black_list: { list },
      origin_host: { host: 'y.example.com' },
    })
    const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((path) => /\/(waves|domains)\/.*json$/.test(path)))
      place.write(file, place.read(file).replaceAll('"y.example.com"', JSON.stringify(evil)))
    const [short, long] = [await print(), await print('-v')]
    for (const text of [short, long]) {
      for (const character of ['\u001b', '\u202e']) expect(text).not.toContain(character)
      expect(text).toContain('\\u{1b}')
    }
    expect(short).toContain('… (-v shows all)')
    expect(short).not.toContain('10.0.0.200')
    expect(long).toContain('10.0.0.200')
  })
  it('puts an apply after those whose values it found, if clocks differ', async () => {
    await applyWith({ timeout: { time: 10 } })
    time.skew = -dayMs
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    await applyWith({ timeout: { time: 11 } }, 3)
    expect(await listItems()).toMatchObject([
      { timeout: { before: confirmed('10'), outcome: 'refused' } },
      { timeout: { before: null, after: [{ time: '10' }], outcome: 'confirmed' } },
    ])
  })
})
