// @module-tag often
// @module-tag nightly
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { Place } from './cli.ts'

const domain = 'www.example.com'
const complete = ['--assume', 'unmanaged=absent']

let place: Place
beforeEach(async () => {
  place = new Place('emulator')
  configure(
    'https: {cert_id: 1001}',
    'cache_rule_list: [{match_method: ext, pattern: jpg, expire: 300}]',
  )
  const { code } = await place.cli('apply', '--yes')
  expect(code).toBe(0)
})
afterEach(() => place.remove())

/** Writes the manifest of the domain, with an origin and some lines more. */
function configure(...lines: string[]): void {
  const config = ['origin: {default_master: 192.0.2.10}', ...lines]
  place.write(
    'domains/www.yaml',
    [`domain: ${domain}`, 'config:', ...config.map((line) => `  ${line}`), ''].join('\n'),
  )
}

/** Lengthens caching, and denies a network. */
function change(): void {
  configure(
    'https: {cert_id: 1001}',
    'cache_rule_list: [{match_method: ext, pattern: jpg, expire: 1800}]',
    'ip_black_list: {list: [203.0.113.0/24]}',
  )
}

const plan = (...args: string[]) => place.cli('plan', ...args)

async function planJson(...args: string[]): Promise<JsonObject> {
  const { out, code } = await plan(...args, '--json')
  expect(code).toBe(0)
  const found = JSON.parse(out) as JsonObject
  const schema = JSON.parse(readFileSync('schemas/output/plan.schema.json', 'utf8')) as JsonObject
  const ajv = new Ajv2020({ strict: false })
  expect(ajv.validate(schema, found), JSON.stringify(ajv.errors)).toBe(true)
  return found
}

/** The effects of a plan. */
async function json(...args: string[]): Promise<JsonObject> {
  const { requests } = await planJson(...args)
  if (!isObject(requests)) throw new Error('the plan has no effects')
  return requests
}

const groupsOf = (effects: JsonObject): JsonObject[] =>
  (effects['groups'] as Json[]).filter(isObject)

const known = {
  method: 'GET',
  headers: { '*': null },
  origin: { status: 200, headers: { '*': null } },
}
const image = { ...known, url: `https://${domain}/a.jpg`, ip: '192.0.2.1' }
const denied = { ...image, ip: '203.0.113.9' }

describe('requests before and after', () => {
  beforeEach(change)

  it('are grouped by what changes, the strongest first', async () => {
    const requests = [
      { ...image, count: 3 },
      { ...image, url: `https://${domain}/b.jpg` },
      denied,
      { ...known, url: `https://${domain}/a.css`, ip: '192.0.2.1' },
    ]
    place.write('requests.json', JSON.stringify(requests))
    const effects = await json('--requests', 'requests.json', ...complete)
    expect(effects).toMatchObject({ total: 6, skipped: 0, same: 1 })
    const [first, second, ...others] = groupsOf(effects)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      class: 'visible',
      verdict: 'differs',
      count: 1,
      domains: [domain],
    })
    expect(first?.['deltas']).toContainEqual({
      field: 'outcome',
      class: 'visible',
      verdict: 'differs',
      before: { value: 'served' },
      after: { value: 'denied' },
      rules: [
        { side: 'after', item: 'ip_black_list', pointer: '/list/0', pattern: '203.0.113.0/24' },
      ],
    })
    expect(second).toMatchObject({
      class: 'content',
      count: 4,
      items: ['cache_rule_list'],
      examples: [`https://${domain}/a.jpg`, `https://${domain}/b.jpg`],
    })
    expect(second?.['deltas']).toMatchObject([
      { field: 'cache.seconds', before: { value: 300 }, after: { value: 1800 } },
      { field: 'cache.lifetime' },
    ])
  })

  it('are said together if they are denied, whatever they were answered before', async () => {
    const requests = ['/a.jpg', '/b.css', '/c'].map((path) => ({
      ...denied,
      url: `https://${domain}${path}`,
      count: 2,
    }))
    place.write('requests.json', JSON.stringify(requests))
    const args = ['--requests', 'requests.json', ...complete]
    expect(groupsOf(await json(...args))).toHaveLength(3)
    const { out } = await plan(...args)
    expect(out.match(/outcome served → denied/g)).toHaveLength(1)
    expect(out).toMatch(
      /6 requests of www\.example\.com \(100 %[^)]+\), e\.g\.\s+\S+\s+\(ip_black_list\)/,
    )
  })

  it('are unknown before where an item was not managed', async () => {
    place.write('requests.json', JSON.stringify([denied]))
    const open = ['--requests', 'requests.json', '--assume', 'unmanaged=unknown']
    const [group] = groupsOf(await json(...open))
    expect(group).toMatchObject({ class: 'visible' })
    const { out } = await plan(...open)
    expect(out).toMatch(/1 unknown before/)
    expect(out).toMatch(/--assume unmanaged=absent/)
  })

  it('are the same if they are released', async () => {
    place.write('requests.json', JSON.stringify([image]))
    configure('https: {cert_id: 1001}')
    expect(await json('--requests', 'requests.json', ...complete)).toMatchObject({ same: 1 })
  })

  it('come from the files that edgewise.yaml names', async () => {
    place.write('samples/a.txt', `# samples\nGET https://${domain}/a.jpg\n`)
    place.write('samples/b.txt', `https://${domain}/b.jpg\nhttps://foreign.example.org/\n`)
    place.configure('requests: [samples/*.txt]')
    expect(await json(...complete)).toMatchObject({ total: 3, skipped: 1 })
    place.write('one.txt', `https://${domain}/a.jpg\n`)
    expect(await json('--requests', 'one.txt')).toMatchObject({ total: 1 })
  })

  it('come from a log in the combined format', async () => {
    const line = (target: string) =>
      `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET ${target} HTTP/1.1" 200 12 "-" "curl/8"`
    place.write('access.log', [line('/a.jpg'), line('/a.jpg'), 'garbage', ''].join('\n'))
    const log = ['--requests', 'access.log', '--log', 'combined', ...complete]
    const effects = await json(...log, '--base', `https://${domain}`)
    expect(effects).toMatchObject({ total: 3, skipped: 1 })
    expect(groupsOf(effects)).toMatchObject([{ count: 2 }])
    place.write('access.log', `${line('/a.jpg')}\n`.repeat(5))
    const few = await json(...log, '--base', `https://${domain}`, '--sample', '1')
    expect(few).toMatchObject({ total: 1 })
  })
})

describe('witnesses', () => {
  const witnesses = async (...args: string[]) => (await planJson(...args, '--witness'))['witnesses']

  it('are requests that show what each change does', async () => {
    change()
    expect(await witnesses(...complete)).toMatchObject([
      {
        item: 'cache_rule_list',
        action: 'change',
        domains: [domain],
        kind: 'request',
        class: 'content',
        deltas: [{ field: 'cache.seconds', rules: [{ side: 'before' }, { side: 'after' }] }, {}],
      },
      {
        item: 'ip_black_list',
        action: 'set',
        kind: 'request',
        class: 'visible',
        request: { ip: expect.stringMatching(/^203\.0\.113\./) as string },
      },
    ])
    const reports = ['--report', 'report.md', '--report', 'report.html']
    const { out } = await plan('--witness', ...complete, ...reports)
    expect(place.read('report.html')).toContain('cache.seconds 5 minutes → 30 minutes')
    expect(place.read('report.md')).toContain('<summary>What each change does</summary>')
    expect(out).toMatch(/^What each change does$/m)
    expect(out).toMatch(/^ {4}cache\.seconds 5 minutes → 30 minutes/m)
  })

  it('say that a change has no effect', async () => {
    const rule = '{match_method: ext, pattern: jpg, expire: 300, priority: 1}'
    const dead = '{match_method: ext, pattern: jpg, expire: 60, priority: 2}'
    configure('https: {cert_id: 1001}', `cache_rule_list: [${rule}]`)
    await place.cli('apply', '--yes')
    configure('https: {cert_id: 1001}', `cache_rule_list: [${rule}, ${dead}]`)
    expect(await witnesses()).toMatchObject([{ kind: 'equal', proof: 'covered' }])
    const { out } = await plan('--witness', '--report', 'report.md', '--out', 'plan.json')
    expect(out).toContain('no effect under the settled readings')
    expect(out).toMatch(/^~ cache_rule_list .*\n {4}no effect under the settled readings$/m)
    expect(place.read('report.md')).toContain('no effect under the settled readings')
    const { changes } = await planJson('--witness')
    expect(changes).toMatchObject([{ item: 'cache_rule_list', effect: 'none' }])
    expect(place.read('plan.json')).not.toContain('"effect"')
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
  })

  it('prove it for each domain of a kind, whose other items may differ', async () => {
    const other = 'other.example.com'
    const declare = (timeout: number) => {
      const own = `connect_timeout: {origin_connect_timeout: ${timeout}}`
      const lines = `origin: {default_master: 192.0.2.10}\n  ${own}`
      const routes = '  new_origin: [{origin: 192.0.2.20}]\n'
      place
        .write('domains/www.yaml', `domain: ${domain}\nconfig:\n  ${lines}\n`)
        .write('domains/other.yaml', `domain: ${other}\nconfig:\n  ${lines}\n${routes}`)
    }
    declare(5)
    expect(await place.cli('apply', '--yes')).toMatchObject({ code: 0 })
    declare(6)
    const found = await witnesses(...complete, '--assume', 'R68=new_origin')
    expect(found).toMatchObject([
      { kind: 'equal', domains: [other] },
      { kind: 'request', domains: [domain] },
    ])
  })

  it('name what was in the way', async () => {
    change()
    expect(await witnesses('--assume', 'unmanaged=unknown')).toContainEqual({
      item: 'ip_black_list',
      action: 'set',
      domains: [domain],
      kind: 'not-found',
      tried: 0,
      reasons: ['unmanaged ip_black_list'],
    })
  })
})

describe('other commands, with the files that edgewise.yaml names', () => {
  beforeEach(() => {
    place.write('samples/a.json', JSON.stringify([image]))
    place.configure('requests: [samples/*.json]')
  })

  it('show what a rollback does', async () => {
    change()
    await place.cli('apply', '--yes')
    const { out, code } = await place.cli('rollback', '--yes')
    expect(code).toBe(0)
    expect(out).toMatch(/Requests: 1 request traced/)
    expect(out).toContain('cache.seconds 30 minutes → 5 minutes')
  })

  it('show what differs at the service', async () => {
    const live = {
      [domain]: {
        origin: { default_master: '192.0.2.10' },
        https: { cert_id: 1001 },
        cache_rule_list: [
          {
            match_method: 'ext',
            pattern: 'jpg',
            expire: 60,
            expire_unit: 's',
            cache_or_not: 'yes',
          },
        ],
      },
    }
    place.write('live.json', JSON.stringify(live))
    const { out, code } = await place.cli('drift', '--observed', 'live.json')
    expect(code).toBe(2)
    expect(out).toContain('cache.seconds 5 minutes → 1 minute')
    const files = ['drift.md', 'drift.html', 'drift.json']
    const reports = files.flatMap((file) => ['--report', file])
    await place.cli('drift', '--observed', 'live.json', ...reports)
    const [asMarkdown, page, asJson = ''] = files.map((file) => place.read(file))
    expect(asMarkdown).toContain('#### What visitors notice')
    expect(page).toContain('data-effects')
    const found = JSON.parse(asJson) as JsonObject
    const schema = JSON.parse(
      readFileSync('schemas/output/drift.schema.json', 'utf8'),
    ) as JsonObject
    const ajv = new Ajv2020({ strict: false })
    expect(ajv.validate(schema, found), JSON.stringify(ajv.errors)).toBe(true)
    expect(found).toMatchObject({ requests: { total: 1, groups: [{ class: 'content' }] } })
    expect((await place.cli('drift')).out).not.toContain('Requests:')
  })
})

describe('what is printed', () => {
  const secretive = { ...denied, url: `https://${domain}/a.jpg?token=sesame&sesame` }
  beforeEach(() => {
    change()
    place.write('requests.json', JSON.stringify([secretive]))
  })

  it('has neither values of queries nor addresses of clients', async () => {
    const all = ['--requests', 'requests.json', ...complete]
    const files = ['report.md', 'report.json', 'report.html']
    const reports = files.flatMap((file) => ['--report', file])
    const { out } = await plan(...all, ...reports)
    const { out: asJson } = await plan(...all, '--json')
    const texts = [out, asJson, ...files.map((file) => place.read(file))]
    for (const text of texts) {
      expect(text).toMatch(/token=…&(?:amp;)?…/)
      expect(text).not.toMatch(/sesame|203\.0\.113\.9/)
    }
    expect((await plan(...all, '-v')).out).toContain('token=sesame')
  })

  it('says what visitors notice first in a comment', async () => {
    await plan('--requests', 'requests.json', ...complete, '--report', 'report.md')
    const text = place.read('report.md')
    expect(text).toMatch(/^### Edgewise plan\n\n#### What visitors notice\n/)
    expect(text).toContain('outcome served → denied')
    const section = text.slice(text.indexOf('####'), text.indexOf('Plan:'))
    expect(section.trim().split('\n').length).toBeLessThanOrEqual(12)
  })

  it('fits into 80 columns', async () => {
    const { out } = await plan('--requests', 'requests.json', ...complete)
    const section = out.slice(out.indexOf('Requests:'))
    expect(section).toMatch(/visitors notice\n {4}outcome served → denied\n/)
    for (const line of section.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})

describe('waves', () => {
  it('say which effects they are the first to try', async () => {
    const one = 'one.example.com'
    const write = (seconds: number, list: string) => {
      const rules = `cache_rule_list: [{match_method: ext, pattern: jpg, expire: ${seconds}}]`
      configure('https: {cert_id: 1001}', rules)
      place.write(
        'domains/one.yaml',
        `domain: ${one}\nconfig:\n  ip_black_list: {list: [${list}]}\n`,
      )
    }
    place.configure(`rollout: {waves: [1, 100%], first: [${one}]}`)
    write(300, '198.51.100.1')
    expect(await place.cli('apply', '--yes', '--no-waves')).toMatchObject({ code: 0 })
    write(1800, '203.0.113.0/24')
    const requests = [image, { ...denied, url: `http://${one}/` }]
    place.write('requests.json', JSON.stringify(requests))
    const args = ['--requests', 'requests.json', ...complete]
    const { waves } = await planJson(...args)
    expect(waves).toMatchObject([
      { wave: 1, effects: [0] },
      { wave: 2, effects: [1] },
    ])
    const { err } = await plan(...args, '--report', 'report.md')
    for (const text of [err, place.read('report.md')]) {
      expect(text).toContain('wave 1 is the first to show: outcome served → denied')
      expect(text).toContain('wave 2 is the first to show: cache.seconds 5 minutes → 30 minutes')
    }
  })
})

describe('requests that are refused', () => {
  it.each([
    [['--requests', 'none.txt'], 'none.txt: no such file'],
    [['--requests', 'empty.txt'], 'empty.txt has no request'],
    [['--log', 'combined'], '--log needs --requests FILE'],
    [['--requests', 'empty.txt', '--base', 'https://a.example'], '--base needs --log combined'],
    [['--requests', 'empty.txt', '--sample', '3'], '--sample needs --log combined'],
    [['--requests', 'one.txt', '--assume', 'R4=both'], 'R4 is search, whole; got'],
  ])('%j', async (args, message) => {
    place.write('empty.txt', '# nothing\n').write('one.txt', `https://${domain}/\n`)
    const { code, err } = await plan(...args)
    expect(code).toBe(1)
    expect(err).toContain(message)
  })

  it('are those of globs without a file', async () => {
    place.configure('requests: [samples/*.txt]')
    const { code, err } = await plan()
    expect(code).toBe(1)
    expect(err).toContain('no file matches samples/*.txt')
  })
})
