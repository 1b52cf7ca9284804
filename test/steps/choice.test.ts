import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/model/json.ts'
import { fetchConfig, Place, startService, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const www = 'www.example.com'
setStage()

const errorSchema = JSON.parse(
  readFileSync(new URL('../../schemas/output/error.schema.json', import.meta.url), 'utf8'),
) as object
const isError = new Ajv2020({ strict: false }).compile(errorSchema)

describe('the selection', () => {
  beforeEach(() => {
    for (const name of ['a', 'b'])
      place.manifest(`${name}.example.com`, { timeout: { time: 60 }, https: { cert_id: 1 } })
  })

  it.each([
    [['--item', 'htps'], 'Did you mean "https"?'],
    [['--item', 'https', '--item', 'time-out'], 'Did you mean "timeout"?'],
    [['--item', ''], 'there is no item ""'],
    [['--target', 'c.example.com'], 'no managed domain matches "c.example.com"'],
    [
      ['--target', 'example.com', '--target', '*.net'],
      'no managed domain matches "example.com", "*.net"',
    ],
    [['--target', ''], 'expected a glob of 1 to 1000 characters'],
    [['--target'], 'argument missing'],
    [['--targt', 'a'], 'Did you mean --target?'],
  ])('%j is exit 1 for plan and apply, with a reason', async (args, why) => {
    for (const command of [['plan'], ['plan', '--detailed-exitcode'], ['apply', '--yes']]) {
      const { code, out, err } = await place.cli(...command, ...args)
      expect([code, out, err]).toEqual([1, '', expect.stringContaining(why)])
      const error = await place.json(...command, ...args)
      expect(isError(error) ? [] : isError.errors).toEqual([])
      expect(error).toMatchObject({ format: 'edgewise.error/1', code: 'usage' })
    }
    expect(await fetchWrites(emulator)).toEqual([])
    expect((await place.json('state', 'list'))['domains']).toEqual([])
  })

  it('a missing folder is an error: its parents are not searched', async () => {
    const { code, err } = await place.cli('-C', 'nowhere', 'plan')
    expect([code, err]).toEqual([1, expect.stringContaining('does not exist')])
  })

  it('domains outside the selection are neither planned, written nor released', async () => {
    await place.settle()
    place.manifest('a.example.com', { timeout: { time: 61 } }).manifest('b.example.com', {})
    const before = (await fetchWrites(emulator)).length
    expect(
      (await place.cli('apply', '--yes', '--target', 'A.example.com', '--item', 'timeout')).code,
    ).toBe(0)
    expect((await fetchWrites(emulator)).slice(before)).toMatchObject([
      { domains: ['a.example.com'], items: ['timeout'] },
    ])
    expect(await place.json('state', 'list')).toMatchObject({
      domains: [{ items: 2 }, { items: 2 }],
    })
    expect(await place.json('plan')).toMatchObject({ summary: { release: 3, set: 0, change: 0 } })
  })

  it('a domain without a manifest can still be selected for release', async () => {
    await place.settle()
    rmSync(join(place.root, 'domains/a.example.com.yaml'))
    expect(await place.json('plan', '--target', 'a.example.com')).toMatchObject({
      summary: { release: 2, writes: 0 },
    })
    expect((await place.cli('apply', '--yes', '--target', 'a.example.com')).code).toBe(0)
    expect((await place.cli('state', 'show', 'a.example.com')).code).toBe(1)
    expect(await fetchConfig(emulator, 'a.example.com')).toMatchObject({ timeout: { time: '60' } })
  })
})

describe('separate workspaces', () => {
  it('with two ids in one folder plan, record and forget their own domains', async () => {
    const other = new Place(emulator.url, 'id: staging\n')
    try {
      await place.manifest(www, { timeout: { time: 60 } }).settle()
      cpSync(join(place.root, '.edgewise'), join(other.root, '.edgewise'), { recursive: true })
      const theirs = 'theirs.example.com'
      const first = await other.manifest(theirs, { timeout: { time: 60 } }).cli('plan')
      expect(first.err).toContain('Nothing is recorded yet for "staging"')
      await other.settle()
      await other.manifest(theirs, {}).settle()
      expect((await other.json('state', 'list'))['domains']).toEqual([])
      cpSync(join(other.root, '.edgewise'), join(place.root, '.edgewise'), { recursive: true })
      expect(await place.json('plan')).toMatchObject({ changes: [], summary: { unchanged: 1 } })
    } finally {
      other.remove()
    }
  })

  it('with two addresses in one folder keep separate states', async () => {
    const elsewhere = await startService()
    const home = join(place.root, 'edgewise.yaml')
    const text = readFileSync(home, 'utf8')
    try {
      await place.manifest(www, { timeout: { time: 60 } }).settle()
      place.write('edgewise.yaml', text.replace(emulator.url, elsewhere.url))
      expect(await place.json('plan')).toMatchObject({ summary: { set: 1 } })
      await place.manifest(www, { timeout: { time: 99 } }).settle()
      expect(await fetchConfig(elsewhere, www)).toEqual({ timeout: { time: '99' } })
      place.write('edgewise.yaml', text)
      expect(await fetchConfig(emulator, www)).toEqual({ timeout: { time: '60' } })
      expect(await place.json('plan')).toMatchObject({
        changes: [{ before: { time: '60' }, after: { time: '99' } }],
      })
    } finally {
      await elsewhere.close()
    }
  })
})

it('a very long target is refused with the maximum length', async () => {
  place.manifest(www, { timeout: { time: 60 } })
  for (const command of ['plan', 'apply'])
    expect((await place.cli(command, '--target', 'a'.repeat(70_000))).err).toContain(
      'expected a glob of 1 to 1000 characters',
    )
})

describe('another spelling of the address', () => {
  it('is the same service: state, lock and owner; shown and stored as written', async () => {
    const home = join(place.root, 'edgewise.yaml')
    const text = readFileSync(home, 'utf8')
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const spelling = `HTTP://\${env:HOST}:${new URL(emulator.url).port}/x/../`
    place.write('edgewise.yaml', text.replace(emulator.url, spelling))
    place.env['HOST'] = '0x7f.1'
    expect(await place.json('plan')).toMatchObject({ changes: [], summary: { unchanged: 1 } })
    await place.manifest(www, { timeout: { time: 61 } }).settle()
    const folder = join(place.root, '.edgewise/state/default/addresses')
    const [stored, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    expect(JSON.parse(readFileSync(join(folder, stored ?? ''), 'utf8'))).toEqual({
      id: 'default',
      address: spelling,
    })
    place.write('edgewise.yaml', `${text.replace(emulator.url, spelling)}\nid: other`)
    const refused = await place.cli('plan')
    expect(refused.err).toContain(`${www} (domains/${www}.yaml) belongs to the workspace "default"`)
  })
})

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

  it('warns once that an unrecorded item is emptied', async () => {
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
  it('is exit 1 with a diagnostic for every command, and nothing is sent', async () => {
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
    expect(await place.json('state', 'show', www)).toMatchObject({
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

describe('import', () => {
  it('records domains that state list sorts by name', async () => {
    const names = ['d', 'b', 'f', 'a', 'e', 'c'].map((name) => `${name}.example.com`)
    const live = names.map((name) => [name, { timeout: { time: 60 } }])
    for (const name of names) place.manifest(name, { timeout: { time: 60 } })
    await place
      .write('live.json', JSON.stringify(Object.fromEntries(live)))
      .cli('import', 'live.json')
    const { domains } = (await place.json('state', 'list')) as { domains: { domain: string }[] }
    expect(domains.map(({ domain }) => domain)).toEqual(names.toSorted())
  })

  it('lists the items that it skips, and does not record them', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    place.write(
      'live.json',
      JSON.stringify({
        [www]: { timeout: { time: 60 }, https: { cert_id: 1 } },
        'b.example.com': { timeout: { time: 5 } },
      }),
    )
    expect(await place.json('import', 'live.json')).toEqual({
      format: 'edgewise.import/1',
      domains: 1,
      items: 1,
      skipped: [
        { domain: www, item: 'https' },
        { domain: 'b.example.com', item: 'timeout' },
      ],
    })
    expect(await place.json('state', 'show', www)).toMatchObject({
      items: { timeout: { status: 'confirmed', origin: 'import' } },
    })
    expect(await place.json('state', 'list')).toMatchObject({
      domains: [{ domain: www, items: 1 }],
    })
  })

  it.each<[string, string, JsonObject]>([
    ['append', 'ip_black_list', { list: ['192.0.2.1'], mode: 'append' }],
    ['add', 'add_response_head', { type: 'add', list: [{ name: 'X-A', value: 'a' }] }],
    ['remove', 'add_response_head', { type: 'remove', list: ['X-A'] }],
  ])('refuses a file with an action (%s)', async (_what, item, payload) => {
    place.manifest(www, { timeout: { time: 60 } })
    place.write('live.json', JSON.stringify({ [www]: { timeout: { time: 60 }, [item]: payload } }))
    const { code, err } = await place.cli('import', 'live.json')
    expect(code).toBe(1)
    expect(err).toMatch(new RegExp(`${item} of ${www} at /\\w+: it is an action`))
    expect((await place.json('state', 'list'))['domains']).toEqual([])
  })

  it('refuses endless nesting', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    place.write('live.json', `{"${www}": {"timeout": ${'['.repeat(50_000)}${']'.repeat(50_000)}}}`)
    const { code, err } = await place.cli('import', 'live.json')
    expect([code, err]).toEqual([1, expect.stringContaining('expected at most 64 levels')])
  })

  it('is a confirmed base: later differences are changes', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    place.write('live.json', JSON.stringify({ [www.toUpperCase()]: { timeout: { time: '50' } } }))
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    expect(await place.json('plan')).toMatchObject({
      changes: [{ action: 'change', before: { time: '50' }, after: { time: '60' } }],
    })
    await place.settle()
    expect(await place.json('state', 'show', www)).toMatchObject({
      items: { timeout: { origin: 'write' } },
    })
  })

  it.each([
    '{',
    'null',
    '[]',
    '7',
    '{"a": 1}',
    '{"a b": {"timeout": {}}}',
    '{"code": 0, "data": {"config": {}}}',
    '{"data": [{"domain": 1}]}',
  ])('of %s is exit 1 with a message', async (text) => {
    place.manifest(www, {}).write('live.json', text)
    const { code, err } = await place.cli('import', 'live.json')
    expect([code, err]).toEqual([1, expect.stringMatching(/^error: .*can't be imported: /m)])
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
