import { execFileSync } from 'node:child_process'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'

import { place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const api = 'api.example.com'
const timeout = { time: '60' }
setStage()

const file = (name: string, data: Json) => place.write(name, JSON.stringify(data, null, 2))

const addLines = (more: string) =>
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}${more}\n`)

/** Imports, and returns the diagnostics as `file:line:column detail`. */
async function problems(...args: string[]): Promise<string[]> {
  const output = await place.json('import', ...args)
  expect(listSchemaErrors('error', output)).toEqual([])
  expect(output['code']).toBe('usage')
  return (output['diagnostics'] as JsonObject[]).map((diagnostic) => {
    const { file: name, line, column, detail } = diagnostic as Record<string, string>
    return `${name}:${line}:${column} ${detail}`
  })
}

describe('import of files with problems', () => {
  itLong('reports all problems of all files, each with its place', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    file('a.json', {
      [www]: { timeout: { time: 'x' }, ip_black_list: { list: ['192.0.2.1'], mode: 'append' } },
      'not a domain': {},
      [api]: 7,
    })
    place.write('b.json', '{\n  "a": }')
    file('c.json', { code: 0, data: [{ domain: api, config: { timeout: { time: [] } } }, {}] })
    expect(await problems('a.json', 'b.json', 'none.json', 'c.json')).toEqual([
      expect.stringMatching(/^a\.json:4:15 timeout of www\.example\.com at \/time: /),
      'a.json:10:15 ip_black_list of www.example.com at /mode: it is an action, not configuration',
      'a.json:13:3 "not a domain" is not a domain name',
      'a.json:14:22 expected an object of items, got a number',
      'b.json:2:8 it is not JSON: expected a value',
      expect.stringMatching(/^c\.json:8:19 timeout of api\.example\.com at \/time: /),
      'c.json:12:5 expected "domain" and "config" in each entry of "data"',
      expect.stringMatching(/^none\.json:1:1 .*no such file/),
    ])
    const { code, err } = await place.cli('import', 'a.json', 'b.json', 'c.json')
    expect(code).toBe(1)
    expect(err.replace(/\s+/g, ' ')).toContain(
      "a.json, b.json, c.json can't be imported: 7 problems; nothing was recorded " +
        'Expected {"<domain>": {"<item>": payload}}',
    )
    expect(await place.json('state', 'list')).toMatchObject({ domains: [] })
  })

  itLong('may skip items that are not valid, and lists them with the reason', async () => {
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1001 } })
    file('a.json', { [www]: { timeout: { time: 'x' }, https: { cert_id: 1001 } } })
    expect(await place.cli('import', 'a.json')).toMatchObject({ code: 1 })
    const { code, out, err } = await place.cli('import', 'a.json', '--skip-invalid')
    expect([code, out]).toEqual([0, 'Recorded 1 item of 1 domain.\n'])
    expect(err).toMatch(/timeout/)
    const again = ['import', 'a.json', '--skip-invalid', '--replace'] as const
    expect(await place.json(...again)).toMatchObject({ items: 1, skipped: [{ item: 'timeout' }] })
    file('b.json', { 'not a domain': { timeout }, 'x\u001b[2J': {} })
    const none = await place.cli('import', 'b.json', '--skip-invalid')
    expect(none.code).toBe(1)
    expect(none.err).toContain('expected at least one item, got none')
    file('b.json', { 'not a domain': { timeout }, [www]: { https: { cert_id: 1001 } } })
    const rest = await place.json('import', 'b.json', '--skip-invalid', '--replace')
    const reason = 'not a domain name'
    expect(rest).toMatchObject({
      items: 1,
      skipped: [{ domain: 'not a domain', item: '*', reason }],
    })
    expect(listSchemaErrors('import', rest)).toEqual([])
    const { err: warned } = await place.cli('import', 'b.json', '--skip-invalid', '--replace')
    expect(warned.replace(/\s+/g, ' ')).toContain(
      'note: not a domain name (not a domain); it was not imported',
    )
  })

  itLong('reports the same problem of many domains once, with their number', async () => {
    const fleet = Array.from({ length: 40 }, (_, i) => [
      `d${i}.example.com`,
      { origin: { default_master: ['192.0.2.1', `192.0.2.${i + 2}`] } },
    ])
    file('a.json', Object.fromEntries([...fleet, [www, { origin: { default_master: 7 } }]]))
    expect(await problems('a.json')).toEqual([
      'a.json:4:25 origin of d0.example.com and 39 other domains at /default_master: ' +
        'expected a string, got a list of 2',
      expect.stringMatching(/^a\.json:\d+:25 origin of www\.example\.com at \/default_master: /),
    ])
  })

  it.each([
    [
      'a comment',
      '{\n// live\n}',
      '2:1 it is not JSON: expected a key in double quotes, got a comment',
    ],
    ['a trailing comma', '{"a": {},\n}', '2:1 it is not JSON: expected a key'],
    ['a cut end', '{"a": {"b"', '1:11 it is not JSON: expected ":", got the end of the file'],
    ['a comma between values', '{}\n,{}', '2:1 it is not JSON: expected a value'],
    ['single quotes', "{'a': 1}", '1:2 it is not JSON: expected a key in double quotes'],
    ['a line break in a text', '{"a": "b\n"}', '1:9 it is not JSON: expected the end of the text'],
    ['half a pair', '{"a": {"b": "\\ud800"}}', '1:13 it is not JSON: half of a surrogate pair'],
    ['nothing', '', '1:1 it is not JSON: expected a value, got the end of the file'],
    ['a list', '[]', '1:1 expected an object, got a list'],
    ['deep nesting', '['.repeat(40_000), '1:65 expected at most 64 levels of nesting, got more'],
    [
      'deep values',
      `{"a.example.com":{"timeout":${'['.repeat(99)}${']'.repeat(99)}}}`,
      '1:91 expected at most 64 levels of nesting, got more',
    ],
    [
      'an answer with an error',
      '{"code": 4001, "data": []}',
      '1:10 expected an answer with code 0, got another code: it holds no configuration',
    ],
    [
      'a domain that occurs twice',
      `{"${www}": {},\r\n  "${www}": {}}`,
      '2:3 this key occurs twice in its object: only one of the values would count',
    ],
  ])('reports %s with its place', async (_what, text, problem) => {
    place.write('live.json', text)
    expect((await problems('live.json'))[0]).toContain(`live.json:${problem}`)
  })

  it('reports values that contradict each other, in one or several files', async () => {
    file('a.json', { [www]: { timeout }, 'WWW.example.com': { timeout: { time: '61' } } })
    file('b.json', { [www]: { timeout }, [api]: { timeout } })
    file('c.json', { [www]: { timeout: { time: 62 } }, [api]: { timeout: { time: 60 } } })
    expect(await problems('a.json', 'b.json', 'c.json')).toEqual([
      'a.json:8:5 timeout of www.example.com has another value at a.json:3:5',
      'c.json:3:5 timeout of www.example.com has another value at a.json:3:5',
    ])
  })

  it('takes bodies of requests, answers and NDJSON, one after another', async () => {
    for (const domain of [www, api]) place.manifest(domain, { timeout, https: { cert_id: 1 } })
    const https = { cert_id: 1 }
    const [body, answer, whole] = [
      JSON.stringify({ domains: `${www},${api}`, config: { timeout } }),
      JSON.stringify({ code: 0, data: [{ domain: api, config: { https } }] }),
      JSON.stringify({ [www]: { timeout, https } }, null, 2),
    ]
    place.write('log.ndjson', `${body}\n\n${answer}${whole}\n`)
    expect(await place.json('import', 'log.ndjson')).toMatchObject({ domains: 2, items: 4 })
    expect((await place.json('plan'))['changes']).toEqual([])
    const { code, out, err } = await place.cli('drift', '--observed', 'log.ndjson')
    expect([code, err, out]).toEqual([0, '', expect.stringContaining('No differences')])
    const url = `https://${www}/`
    const traced = await place.cli('trace', url, '--of', 'observed', '--observed', 'log.ndjson')
    expect(traced.code).toBe(0)
  })

  it('says where two answers of a domain differ, and takes neither', async () => {
    place.manifest(www, { timeout })
    place.write(
      'log.json',
      `{"domains": "${www}", "config": {"timeout": {"time": "60"}}}\n` +
        `{"domains": "${www}", "config": {"timeout": {"time": "61"}}}\n`,
    )
    expect(await problems('log.json')).toEqual([
      `log.json:2:43 timeout of ${www} has another value at log.json:1:43`,
    ])
    const { code, err } = await place.cli('drift', '--observed', 'log.json')
    expect([code, err]).toEqual([1, expect.stringContaining(`"${www}" has two values`)])
    const args = [`https://${www}/`, '--of', 'observed', '--observed', 'log.json']
    const traced = await place.cli('trace', ...args)
    expect([traced.code, traced.err]).toEqual([1, expect.stringContaining('has two values')])
  })

  it('reports an invalid --domain, and "-" that occurs twice', async () => {
    file('a.json', { code: 0, data: { config: { timeout } } })
    const run = (...args: string[]) => place.json('import', ...args)
    expect(await run('a.json', '--domain', 'x y')).toMatchObject({
      message: '--domain "x y" is not a domain name',
    })
    expect(await run('-', 'a.json', '-')).toMatchObject({
      message: expect.stringContaining('"-" is given twice') as string,
    })
    expect(await problems('a.json')).toEqual([
      'a.json:3:11 the configuration names no domain; pass --domain',
    ])
  })
})

describe('import of stdin', () => {
  const pipe = (data: Json) => {
    place.stdin = Readable.from([
      Buffer.from(JSON.stringify(data).slice(0, 9)),
      Buffer.from(JSON.stringify(data).slice(9)),
    ])
  }

  it('reads "-", besides files', async () => {
    for (const domain of [www, api]) place.manifest(domain, { timeout })
    file('a.json', { [www]: { timeout } })
    pipe({ [api]: { timeout } })
    expect(await place.json('import', 'a.json', '-')).toMatchObject({ domains: 2, items: 2 })
  })

  it('names stdin in problems', async () => {
    pipe({ [api]: 1 })
    expect(await problems('-')).toEqual(['(stdin):1:20 expected an object of items, got a number'])
    place.stdin = Readable.from([Buffer.from('\ufeff{}')])
    expect((await problems('-'))[0]).toMatch(/^\(stdin\):1:1 .*without a byte order mark/)
  })

  it('is refused on a terminal, and ends with an interrupt', async () => {
    place.stdin = null
    expect(await place.json('import', '-')).toMatchObject({
      message: expect.stringContaining('stdin is a terminal') as string,
    })
    const stop = new AbortController()
    place.signal = stop.signal
    place.stdin = new Readable({ read: () => stop.abort() })
    expect(await place.json('import', '-')).toMatchObject({ message: 'stdin: interrupted' })
  })
})

describe('an import file in the repository', () => {
  itLong('is warned of unless git ignores it', async () => {
    execFileSync('git', ['init', '-q', place.root])
    place.manifest(www, { timeout })
    file('live.json', { [www]: { timeout } })
    const { err } = await place.cli('import', 'live.json')
    expect(err.replace(/\s+/g, ' ')).toContain(
      'note: live.json is in the repository and git does not ignore it, but it may contain ' +
        'secrets. Move it out of the repository or add it to .gitignore.',
    )
    place.write('.gitignore', 'live.json\n')
    expect((await place.cli('import', 'live.json')).err).not.toContain('in the repository')
    execFileSync('git', ['-C', place.root, 'add', '-f', 'live.json'])
    expect((await place.cli('import', 'live.json')).err).toContain('in the repository')
  })
})

describe('import over recorded state', () => {
  itLong('names each kind of difference that needs --replace', async () => {
    addLines('secrets: {origin: {env: ORIGIN}}')
    place.env['ORIGIN'] = 'sesame-sesame'
    const head = (bearer: string) => [{ head_name: 'A', head_value: `Bearer ${bearer}` }]
    place.manifest(www, {
      timeout,
      ip_black_list: { list: ['192.0.2.1'] },
      add_back_source_head: head('${secret:origin}'),
    })
    await place.settle()
    place.manifest(www, {
      timeout,
      ip_black_list: { $unset: true },
      add_back_source_head: head('${secret:origin}'),
    })
    await place.settle()
    delete place.env['ORIGIN']
    file('live.json', {
      [www]: {
        timeout: { time: '61' },
        ip_black_list: { list: ['192.0.2.1'] },
        add_back_source_head: head('sesame-sesame'),
      },
    })
    const { message } = (await place.json('import', 'live.json')) as { message: string }
    expect(message).toBe(
      'the state has something else, so nothing was recorded: ' +
        'timeout of www.example.com is recorded with another value; ' +
        'ip_black_list of www.example.com is recorded as unset; ' +
        'add_back_source_head of www.example.com has a secret that can not be compared',
    )
  })

  it('records the fingerprint of an available secret in the first import', async () => {
    addLines('secrets: {signing: {env: SIGNING}}')
    place.env['SIGNING'] = 'a-long-signing-key-of-ours'
    const signed = (key: string) => ({
      visit_timestamp: {
        pattern: '.*',
        time_format: 'timestamp',
        key,
        deadtime: 60,
        req_uri_type: 1,
      },
    })
    place.manifest(www, signed('${secret:signing}'))
    file('live.json', { [www]: signed('a-long-signing-key-of-ours') })
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    expect((await place.json('plan'))['changes']).toEqual([])
    place.env['SIGNING'] = 'another-signing-key-of-ours'
    expect((await place.json('plan'))['changes']).toMatchObject([{ item: 'visit_timestamp' }])
  })

  it('lists skipped items once for all domains, with the reason', async () => {
    const domains = Array.from({ length: 5 }, (_, i) => `d${i}.example.com`)
    file('live.json', Object.fromEntries(domains.map((name) => [name, { timeout, resize: 1 }])))
    const { err } = await place.cli('import', 'live.json')
    expect(err).toContain(
      'Skipped, because no manifest mentions them:\n' +
        '  timeout: d0.example.com, d1.example.com, d2.example.com and 2 more\n' +
        'Skipped, because there is no such item (service.itemKeys maps other wire names):\n' +
        '  resize: d0.example.com, d1.example.com, d2.example.com and 2 more\n',
    )
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
    const { out } = await place.cli('state', 'list')
    expect(out.match(/^\S+/gm)).toEqual(names.toSorted())
    expect((await place.cli('state', 'list', '--help')).out).toContain('sorted by name')
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
        { domain: www, item: 'https', reason: 'no manifest mentions it' },
        { domain: 'b.example.com', item: 'timeout', reason: 'no manifest mentions it' },
      ],
    })
    expect({ items: await place.recorded(www) }).toMatchObject({
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

  itLong('is a confirmed base: later differences are changes', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    place.write('live.json', JSON.stringify({ [www.toUpperCase()]: { timeout: { time: '50' } } }))
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    expect(await place.json('plan')).toMatchObject({
      changes: [{ action: 'change', before: { time: '50' }, after: { time: '60' } }],
    })
    await place.settle()
    expect({ items: await place.recorded(www) }).toMatchObject({
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
