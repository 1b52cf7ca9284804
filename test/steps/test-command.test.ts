// @module-tag often
// @module-tag nightly
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MutationReport } from '../../src/core/tests/results.ts'
import { open } from '../../src/index.ts'
import { Place } from './cli.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { itLong } from '../runs.ts'

const video = 'a.video.example.com'

let place: Place
beforeEach(() => {
  place = new Place('emulator')
  place
    .write(
      'profiles/video.yaml',
      [
        'profile: video',
        'config:',
        '  https: {cert_id: 1001, force_https: 301}',
        '  cache_rule_list:',
        '    - {match_method: ext, pattern: mp4, expire: 1, expire_unit: D}',
        '  origin_host: {host: "${var:region}.origin.example.net"}',
        '  timeout: {time: 70}',
        '',
      ].join('\n'),
    )
    .write(
      'domains/video.yaml',
      [
        `domains: [${video}, b.video.example.com]`,
        'profiles: [video]',
        'vars: {region: eu}',
        'config:',
        '  origin: {default_master: 192.0.2.10}',
        '  ip_black_list: {list: [203.0.113.7]}',
        '',
      ].join('\n'),
    )
})
afterEach(() => place.remove())

/** The test of the guide. */
const whole = [
  'test: video domains serve mp4 for a day',
  'domains: ["*.video.example.com"]',
  'assume: {unmanaged: absent}',
  'items: {cache_rule_list/0/expire: 1, https/force_https: 301}',
  'requests:',
  `  - {url: "https://${video}/x.mp4", ip: 192.0.2.1, expect:`,
  '      {access.decision: allowed, cache.seconds: 86400, origin.host: eu.origin.example.net}}',
  `  - {url: "http://${video}/", expect: {redirect.status: 301}}`,
  'plan: {from: {timeout: {time: 60}}, writes: {max: 3}, actions: [change]}',
  'emulator: accepts',
]

const write = (...lines: string[]) => place.write('tests/a.yaml', `${lines.join('\n')}\n`)
const test = (...args: string[]) => place.cli('test', ...args)

/** Runs one test of one line for the domain, and returns what is printed. */
const runLine = async (line: string, more = 'assume: {unmanaged: absent}') => {
  write('test: one', `domains: [${video}]`, more, line)
  return test()
}
const request = (expected: string, facts = '') =>
  `requests: [{url: "https://${video}/x.mp4", ${facts}expect: ${expected}}]`

describe('a test', () => {
  it('passes if all is as expected: items, requests, plan and emulator', async () => {
    write(...whole)
    const { out, err, code } = await test()
    expect([out, err, code]).toEqual([
      `ok    video domains serve mp4 for a day${' '.repeat(29)}tests/a.yaml\n1 test passed.\n`,
      '',
      0,
    ])
  })

  it.each([
    ['items: {cache_rule_list/0/expire: 2}', 'cache_rule_list/0/expire  tests/a.yaml:4:35', '1'],
    ['items: {rate_limit: null, timeout: {time: 60}}', 'timeout  tests/a.yaml:4:27', '{"time"'],
    [request('{cache.seconds: 60}'), 'cache.seconds  tests/a.yaml:4:79', '86400'],
    [request('{access.decision: allowed}'), 'access.decision', 'unknown (not given: ip)'],
    [request('{cache.seconds: {unknown: true}}'), 'cache.seconds', '86400'],
    [request('{cache.seconds: {either: [1, 2]}}'), 'cache.seconds', '86400'],
    [request('{origin.headers.x-a: b}'), 'origin.headers.x-a', 'unknown'],
    ['plan: {from: {timeout: {time: 60}}, writes: 0}', 'writes', '1'],
    ['plan: {from: {timeout: null}, actions: [change]}', 'actions', '["set"]'],
    ['emulator: refuses', 'emulator', 'accepts'],
  ])('fails for %s', async (line, name, got) => {
    const { out, code } = await runLine(line)
    expect(code).toBe(1)
    expect(out).toContain(`    ${name}`)
    expect(out).toContain(`got       ${got}`)
    expect(out).toContain('1 of 1 test failed.')
  })

  it.each([
    'items: {https/force_https: "301", ip_black_list/list: [203.0.113.7], origin_host/host: ' +
      'eu.origin.example.net}',
    'items: {https: {cert_id: 1001, force_https: 301}}',
    request('{access.decision: {unknown: true}}'),
    request('{access.decision: {either: [allowed, denied]}}'),
    request('{access.decision: {either: [denied]}}', 'ip: 203.0.113.7, '),
    request('{cache.rule: {pointer: /0}, origin.main: [192.0.2.10]}'),
    request('{response.headers.x-a: null}', 'origin: {headers: {"*": null}}, '),
    'plan: {from: {timeout: {time: 60}}, writes: {min: 1, max: 1}}',
    'plan: {writes: 0, actions: []}',
    'emulator: accepts',
  ])('passes for %s', async (line) => {
    const { out, code } = await runLine(line)
    expect([out, code]).toEqual([expect.stringContaining('1 test passed.'), 0])
  })

  it('names the deciding rule with file and line, in 80 columns', async () => {
    const { out } = await runLine(request('{access.decision: allowed}', 'ip: 203.0.113.7, '))
    expect(out).toBe(
      [
        `FAIL  one${' '.repeat(57)}tests/a.yaml:1`,
        `  https://${video}/x.mp4`,
        '    access.decision  tests/a.yaml:4:98',
        '      expected  allowed',
        '      got       denied',
        '      why       ip_black_list/list/0 203.0.113.7  domains/video.yaml:6',
        '1 of 1 test failed.',
        '',
      ].join('\n'),
    )
  })

  it.each([
    [request('{cache.seconds: 1}').replace('mp4', 'txt'), 'no rule matches in'],
    [request('{cache.seconds: 1}'), 'mp4  profiles/video.yaml:5, used by'],
    [request('{redirect.status: 301}'), 'https/force_https  profiles/video.yaml:3, used by'],
    [request('{origin.host: x}'), 'origin_host  profiles/video.yaml:6, used by'],
    [request('{origin.timeout: 1}'), 'timeout  profiles/video.yaml:7, used by'],
    [request('{response.drag: true}'), 'video_drag is not set'],
    [request('{access.decision: denied}', 'ip: 192.0.2.1, '), 'none of these denies the request:'],
    [request('{outcome: denied}', 'ip: 192.0.2.1, '), 'ip_black_list  domains/video.yaml:6'],
    [request('{origin.main: [a.b]}'), '["192.0.2.10"]'],
    ['emulator: {refuses: {text: x}}', 'accepts'],
  ])('explains %s: %s', async (line, why) => {
    const { out } = await runLine(line)
    expect(out).toContain(why)
    expect(out.split('\n').filter((each) => each.length > 80)).toEqual([])
  })

  it('says what decides an answer that unmanaged items leave unknown', async () => {
    const line = request('{access.decision: allowed}', 'ip: 192.0.2.1, ')
    const { out } = await runLine(line, 'assume: {}')
    expect(out).toContain('help      assume: {unmanaged: absent} in the test: it is allowed then')
  })

  it('takes answers of readings from the test, over those of the workspace', async () => {
    const line = request('{response.status: 404}', 'ip: 203.0.113.7, ')
    const { code } = await runLine(line, 'assume: {unmanaged: absent, R17: 404}')
    expect(code).toBe(0)
  })
})

describe('a given configuration', () => {
  it('needs no domain of the workspace, and has variables, profiles and secrets', async () => {
    place.write(
      'edgewise.yaml',
      'version: 1\nsecrets: {signing: {env: NOT_THERE}}\nstate: {store: dir}\n',
    )
    write(
      'test: a profile alone',
      'given:',
      '  profiles: [video]',
      '  vars: {region: us}',
      '  config:',
      '    visit_timestamp: {pattern: .*, time_format: timestamp, key: "${secret:signing}",',
      '      deadtime: 60, req_uri_type: 1}',
      '    origin: {default_master: 192.0.2.1}',
      'assume: {unmanaged: absent}',
      'items: {visit_timestamp/key: "${secret:signing}"}',
      'requests:',
      '  - {url: "https://new.example.org/x.mp4", expect:',
      '      {origin.host: us.origin.example.net, access.decision: denied}}',
      'emulator: accepts',
    )
    expect((await test()).out).toContain('1 test passed.')
  })

  it.each(['{refuses: {text: timeout}}', 'refuses'])(
    'may be one that is refused: %s',
    async (how) => {
      write('test: bad', 'given: {config: {timeout: {time: 9999999}}}', `emulator: ${how}`)
      expect((await test()).out).toContain('1 test passed.')
    },
  )

  it.each(['{refuses: {text: certificate}}', '{refuses: {code: 77}}'])(
    'fails for another refusal: %s',
    async (how) => {
      write('test: bad', 'given: {config: {timeout: {time: 9999999}}}', `emulator: ${how}`)
      const { out } = await test()
      expect(out).toMatch(/got {7}refuses: \d+, item\(timeout\)/)
    },
  )
})

describe('files of tests', () => {
  it('are found by the key "tests", and are no manifests and no profiles', async () => {
    place.write(
      'edgewise.yaml',
      'version: 1\nmanifests: ["**/*.yaml"]\nprofiles: ["**/*.yaml"]\n' +
        'tests: ["checks/*.yaml"]\nstate: {store: dir}\n',
    )
    place.write('checks/video.yaml', `${whole.join('\n')}\n`)
    expect((await place.cli('validate')).out).toContain('2 domains')
    expect((await place.cli('plan')).code).toBe(0)
    expect((await test()).out).toContain('1 test passed.')
  })

  it('report all errors at their places, with suggestions, as failures; others run', async () => {
    write(
      ...whole,
      '---',
      'test: wrong',
      'domain: [nowhere.example.com]',
      'items: {htps/x: 1, https/force_htps: 1}',
      'requests:',
      `  - {url: "https://${video}/", ipp: 1.1.1.1, expect: {cache.second: 1}}`,
      `  - {url: "https://${video}/", ip: x, expect: {acess.decision: allowed}}`,
      '---',
      'test: unknown',
      `domains: [x.video.example.com, ${video}]`,
      'assume: {R99: x}',
      'requests:',
      '  - {url: "https://other.example.com/", expect: {outcome: served}}',
    )
    const { code, out } = await test('--report', 'r.xml', '--report', 'r.json')
    expect(code).toBe(1)
    expect(out).toContain('ok    video domains serve mp4 for a day')
    expect(out).toContain('2 of 3 tests failed.')
    expect(read('r.xml')).toContain(
      '<testcase name="document at line 13" classname="tests/a.yaml" line="13">',
    )
    expect(read('r.xml')).toContain('tests="3" failures="2"')
    expect(listSchemaErrors('test', JSON.parse(read('r.json')))).toEqual([])
    const flat = out.replaceAll(/\n {16}/g, ' ')
    for (const [at, text] of [
      ['13:1', 'there is no field "domain". Did you mean "domains"?'],
      ['14:9', 'there is no item "htps". Did you mean "https"?'],
      ['14:20', 'there is no field "force_htps" here. Did you mean "force_https"?'],
      ['16:43', 'there is no field "ipp"'],
      ['16:66', 'a trace has no answer "cache.second". Did you mean "cache.seconds"?'],
      ['17:47', 'ip must be an IPv4 or IPv6 address'],
      ['17:59', 'a trace has no answer "acess.decision". Did you mean "access.decision"?'],
      ['20:11', 'no manifest has a domain that matches "x.video.example.com"'],
      ['21:15', 'there is no reading'],
      ['23:11', 'other.example.com is not tested'],
    ] as const)
      expect(flat).toContain(
        `    This test is not well-formed  tests/a.yaml:${at}\n` +
          `      expected  a well-formed test\n      got       ${text}`,
      )
    expect((await test('--run', 'none*')).out).toContain('2 of 2 tests failed.')
  })

  it.each([
    ['test: a', 'this test expects nothing'],
    ['test: a\nemulator: accepts', 'expected "domains"'],
    ['test: a\ngiven: {}\ndomains: [a.b]\nemulator: accepts', 'expected "domains" or "given"'],
    ['test: a\ngiven: {config: {htps: 1}}\nemulator: accepts', 'htps'],
    ['test: a\ngiven: {profiles: [vidio]}\nemulator: accepts', 'Did you mean "video"?'],
    ['test: a\ngiven: {}\nplan: {from: {timeout: {tim: 1}}, writes: 1}', 'Did you mean "time"?'],
    ['test: a\ngiven: {}\nplan: {}', 'expected "writes" or "actions"'],
    ['test: a\ngiven: {}\nplan: {writes: {}}', 'expected "writes" or "actions"'],
    ['test: a\ndomains: ["!*"]\nemulator: refuses', 'no domain is left to test'],
    ['test: a\ngiven: {}\nplan: {actions: [chnge]}', 'Did you mean "change"?'],
    ['test: a\ngiven: {}\nemulator: acepts', 'Did you mean "accepts"?'],
    ['test: a\ngiven: {}\nrequests: [{expect: {outcome: served}}]', '"url" is required'],
    ['test: a\ngiven: {}\nrequests: [{url: "https://a.b/"}]', '"expect" is required'],
    ['test: a\ngiven: {}\nrequests: [{url: "ftp://a.b/", expect: {outcome: x}}]', 'http://'],
    ['tset: a', '"test" is required'],
    ['test: a\n  b: c', 'YAML'],
  ])('fail: %j', async (text, message) => {
    write(text)
    place.write('tests/other.yaml', 'test: other\ngiven: {}\nemulator: accepts\n')
    const { out, code } = await test()
    expect([out.replaceAll(/\n +/g, ' '), code]).toEqual([expect.stringContaining(message), 1])
    expect(out).toContain('1 of 2 tests failed.')
  })

  it('are selected by paths and names; nothing selected is a failure', async () => {
    place.write('tests/b/c.yaml', 'test: other\ngiven: {}\nemulator: accepts\n')
    write(...whole)
    expect((await test('tests/b')).out).toContain('1 test passed.')
    expect((await test('tests/*.yaml', '--run', 'VIDEO*')).out).toContain('1 test passed.')
    expect((await test('--run', 'none*')).code).toBe(1)
    expect((await test('--run', 'none*', '--allow-empty')).code).toBe(0)
    const missing = await test('tests/none.yaml')
    expect([missing.err, missing.code]).toEqual([expect.stringContaining('no such file'), 1])
    expect((await test('domains')).err).toContain('no file of tests (tests/**/*.{yaml,yml}) below')
  })

  it('may be missing only with --allow-empty', async () => {
    const { out, code } = await test()
    expect([out, code]).toEqual(['No test ran.\n', 1])
    expect((await test('--allow-empty')).code).toBe(0)
  })

  it('run only if the manifests are valid', async () => {
    write(...whole)
    place.write('domains/bad.yaml', 'domain: bad.example.com\nconfig: {timeout: {time: x}}\n')
    const { code, err } = await test()
    expect([code, err]).toEqual([1, expect.stringContaining('the manifests have 1 error')])
  })
})

const schema = new URL('../../schemas/output/test.schema.json', import.meta.url)
const read = (name: string) => readFileSync(join(place.root, name), 'utf8')

describe('reports', () => {
  beforeEach(() => {
    write(...whole, '---', 'test: "<b>&]]>"', `domains: [${video}]`, 'items: {timeout/time: 1}')
  })

  it('are JSON by its schema, JUnit XML and Markdown', async () => {
    const reports = ['json', 'xml', 'md'].flatMap((ending) => ['--report', `r.${ending}`])
    const { out, code } = await test('--json', ...reports)
    expect(code).toBe(1)
    const validate = new Ajv2020({ strict: false }).compile(
      JSON.parse(readFileSync(schema, 'utf8')) as object,
    )
    const value = JSON.parse(out) as { summary: unknown }
    expect(validate(value) ? [] : validate.errors).toEqual([])
    expect(value.summary).toEqual({ tests: 2, passed: 1, failed: 1 })
    expect(read('r.json')).toBe(out)
    expect(read('r.xml')).toContain('<testsuites name="edgewise test" tests="2" failures="1"')
    expect(read('r.xml')).toContain('<testcase name="&#60;b&#62;&#38;]]&#62;"')
    expect(read('r.md')).toMatch(/^### Edgewise tests: 1 of 2 tests failed\.\n\n```text\nFAIL/)
    expect((await test('--report', 'r.html')).err).toContain('.xml (JUnit), .md or .json.')
  })

  it('are annotations in GitHub Actions, of failures and of errors', async () => {
    place.env['GITHUB_ACTIONS'] = 'true'
    expect((await test()).out).toMatch(
      /^::error file=tests\/a.yaml,line=14,.*title=Test failed%3A <b>&\]\]>::timeout\/time of/m,
    )
    expect((await test('--json')).out).not.toContain('::error')
    write('test: x')
    expect((await test()).out).toMatch(/^::error file=tests\/a.yaml,line=1,/m)
  })

  it('have only the failures with --quiet', async () => {
    expect((await test('--quiet')).out).not.toContain('ok  ')
  })
})

describe('--mutate', () => {
  it('lists changes that no test fails for, most dangerous first, and the share', async () => {
    write(...whole)
    const { out, code } = await test('--mutate')
    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines).toContain('  domains/video.yaml:6:26  a.video.example.com and 1 more')
    expect(lines).toContain('    ip_black_list/list/0 removed 203.0.113.7')
    expect(out).not.toContain('https/force_https')
    expect(out).not.toContain('cache_rule_list/0/expire')
    expect(out.indexOf('ip_black_list')).toBeLessThan(out.indexOf('timeout/time'))
    expect(out).toMatch(/Tests guard against \d+ of \d+ changes \([\d.]+ %\); 1 more changes/)
  })

  it('is bounded by --limit, and fails below --min-guarded', async () => {
    write(...whole)
    const { out } = await test('--mutate', '--limit', '1')
    expect(out).toMatch(/of 1 change .*; \d+ less dangerous ones were not tried/s)
    expect((await test('--mutate', '--min-guarded', '100%')).code).toBe(1)
    expect((await test('--mutate', '--min-guarded', '1%')).code).toBe(0)
    const none = ['--mutate', '--run', 'none*', '--allow-empty'] as const
    expect((await test(...none)).code).toBe(0)
    const unknown = await test(...none, '--min-guarded', '1%')
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('is not known')])
    expect((await test('--min-guarded', '1%')).err).toContain('--min-guarded needs --mutate')
    expect((await test('--limit', '1')).err).toContain('--limit needs --mutate')
    const recorded = await test('--record', 'https://a.video.example.com/', '--run', 'x')
    expect([recorded.code, recorded.err]).toEqual([
      1,
      expect.stringContaining('cannot be used with'),
    ])
  })

  it('counts the entries of a list of values as one change', async () => {
    const addresses = Array.from({ length: 12 }, (_, i) => `198.51.100.${i + 1}`)
    const list = addresses.map((address) => `      - ${address}`)
    const manifest = ['domain: d.example.com', 'config:', '  ip_black_list:', '    list:', ...list]
    place.write('domains/d.yaml', [...manifest, ''].join('\n'))
    const denied = (...found: string[]) =>
      write(
        ...found.flatMap((ip, i) => [
          ...(i === 0 ? [] : ['---']),
          `test: ${ip} is denied`,
          'domains: [d.example.com]',
          'assume: {unmanaged: absent}',
          `requests: [{url: "http://d.example.com/", ip: ${ip}, expect: {outcome: denied}}]`,
        ]),
      )
    const count = async () => {
      const { mutations } = await place.json('test', '--mutate', '--limit', '100')
      const { tried, guarded, survivors } = mutations as unknown as MutationReport
      const found = survivors.filter(({ file }) => file === 'domains/d.yaml')
      return { tried, guarded, found }
    }
    denied('198.51.100.1')
    const few = await count()
    expect(few.found.map(({ kind, entries }) => [kind, entries])).toEqual([['drop', 9]])
    denied(...addresses)
    const all = await count()
    expect([all.tried, all.guarded, all.found]).toEqual([few.tried, few.guarded + 1, []])
    denied('198.51.100.1')
    expect((await test('--mutate')).out.replaceAll(/\n +/g, ' ')).toMatch(
      /removed 198.*; the same for 8 more of its entries/,
    )
  })

  it('guards profiles by given configurations; a failing test ends it', async () => {
    write('test: a', 'given: {profiles: [video], vars: {region: x}}', 'items: {timeout/time: 70}')
    const { out } = await test('--mutate')
    expect(out).not.toContain('timeout/time')
    write('test: a', 'given: {}', 'items: {timeout/time: 71}')
    const failed = await test('--mutate')
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('Nothing was changed')])
  })
})

describe('--record', () => {
  const url = `https://${video}/x.mp4`

  it('writes a test that passes, and replaces none without --yes', async () => {
    const { out } = await test('--record', url, `http://${video}/`)
    expect(out).toMatch(/^wrote tests\/a\.video\.example\.com\.yaml: 2 requests, \d+ answers; \d+/)
    const text = read(`tests/${video}.yaml`)
    expect(text).toContain('cache.seconds: 86400')
    expect(text).not.toContain('unknown')
    expect((await test()).out).toContain('1 test passed.')
    const again = await test('--record', url)
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('exists already')])
    expect(read(`tests/${video}.yaml`)).toBe(text)
    place.ask = async () => false
    expect((await test('--record', url)).code).toBe(1)
    expect(read(`tests/${video}.yaml`)).toBe(text)
    expect((await test('--record', url, '--yes')).code).toBe(0)
    expect(read(`tests/${video}.yaml`)).not.toBe(text)
  })

  it('refuses a host without a manifest', async () => {
    const { err } = await test('--record', 'https://c.video.example.com/')
    expect(err).toContain('c.video.example.com is not a known domain')
    expect(existsSync(join(place.root, 'tests'))).toBe(false)
  })
})

it('--watch runs the tests again when a file changes, and ends cleanly on a signal', async () => {
  write(...whole)
  place.write('tests/b.yaml', 'test: b\ngiven: {}\nitems: {timeout: {time: 1}}\n')
  const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
  const child = spawn(process.execPath, [program, '-C', place.root, 'test', '--watch'])
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const ended = once(child, 'exit')
  try {
    await vi.waitFor(() => expect(err).toContain('Waiting for changes'), { timeout: 30_000 })
    expect(out).toContain('1 of 2 tests failed.')
    place.write('tests/b.yaml', 'test: [b\n')
    await vi.waitFor(() => expect(out).toContain('tests/b.yaml:2:1'), { timeout: 30_000 })
    place.write('tests/b.yaml', 'test: b\ngiven: {}\nitems: {timeout: null}\n')
    await vi.waitFor(() => expect(out).toContain('2 tests passed.'), { timeout: 30_000 })
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  } finally {
    child.kill('SIGKILL')
  }
}, 120_000)

it('the library runs tests and finds what they guard against', async () => {
  write(...whole)
  const workspace = open(place.root)
  const { results, mutations } = await workspace.test({ run: 'video*', mutate: { limit: 3 } })
  expect(results.map(({ name, outcome, line }) => [name, outcome, line])).toEqual([
    ['video domains serve mp4 for a day', 'passed', 1],
  ])
  expect(mutations?.tried).toBe(3)
})

it('what a test file has is inert in every output', async () => {
  const bad = ['"\\u001b[31m\\u202e\\n::error::x\\uFFFE"', '"${secret:signing}"']
  write(
    ...bad.flatMap((name) => [
      '---',
      `test: ${name}`,
      `domains: [${video}]`,
      `items: {timeout/time: ${name}, https: {${name}: 2}}`,
      request(`{outcome: ${name}, cache.key: {x: ${name}}}`),
    ]),
  )
  place.env['GITHUB_ACTIONS'] = 'true'
  const { out, code } = await test('--report', 'r.xml', '--report', 'r.md')
  expect(code).toBe(1)
  // oxlint-disable-next-line no-control-regex
  const control = /[\0-\x08\x0b-\x1f\u202e]/u
  for (const text of [out, read('r.xml'), read('r.md')]) {
    expect(text).not.toMatch(control)
    expect(text).toContain('${secret:signing}')
  }
  expect(out).not.toMatch(/^::error::x/m)
})

itLong('a huge or deep file of tests, or one with reserved keys, is refused in time', async () => {
  const start = performance.now()
  write(`test: ${'['.repeat(5000)}`)
  expect((await test()).code).toBe(1)
  write('test: a', 'given: {config: {__proto__: {a: 1}}}', 'emulator: accepts')
  expect((await test()).out).toContain('"__proto__" is reserved')
  write('test: a', 'given: {}', 'requests:', ...Array<string>(20_000).fill('  - {ur: x, ep: y}'))
  expect((await test('--json')).out).toMatch(/problems? from here on are not listed/)
  expect(performance.now() - start).toBeLessThan(20_000)
})
