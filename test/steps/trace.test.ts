import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../src/core/model/json.ts'
import { open } from '../../src/index.ts'
import { part } from '../../src/outlets/report/trace/answers.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

const domain = 'www.example.com'
const url = `https://${domain}/img/a.jpg`

let place: Place
beforeEach(() => {
  place = new Place('emulator')
  place
    .write(
      'profiles/cached.yaml',
      [
        'profile: cached',
        'config:',
        '  cache_rule_list:',
        '    - {match_method: ext, pattern: jpg, expire: 60}',
        '',
      ].join('\n'),
    )
    .write(
      `domains/www.yaml`,
      [
        `domain: ${domain}`,
        'profiles: [cached]',
        'config:',
        '  origin: {default_master: 192.0.2.10}',
        '  https: {cert_id: 1001}',
        '  ip_black_list:',
        '    list:',
        '      - 203.0.113.7',
        '      - 10.0.0.0/8',
        '',
      ].join('\n'),
    )
})
afterEach(() => place.remove())

/** Appends a line to a file of the workspace. */
function append(path: string, line: string): void {
  place.write(path, `${readFileSync(join(place.root, path), 'utf8').trimEnd()}\n${line}\n`)
}

const trace = (...args: string[]) => place.cli('trace', ...args)
const json = async (...args: string[]) => {
  const { out, code } = await trace(...args, '--json')
  expect(code).toBe(0)
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
}

describe('one request', () => {
  it('is traced with the places of rules, also in a profile', async () => {
    const [found] = await json(url, '--ip', '10.1.1.1')
    expect(found).toMatchObject({
      outcome: { value: 'denied' },
      access: { deciding: { value: 'ip_black_list' } },
      cache: {
        rule: {
          value: {
            item: 'cache_rule_list',
            pointer: '/0',
            file: 'profiles/cached.yaml',
            line: 4,
            manifest: 'domains/www.yaml',
          },
        },
      },
    })
    const { access } = found as { access: { checks: JsonObject[] } }
    const check = access.checks.find((each) => each['item'] === 'ip_black_list')
    // The list is sorted, and the place is that of the text.
    expect(check?.['rule']).toMatchObject({
      pattern: '10.0.0.0/8',
      file: 'domains/www.yaml',
      line: 9,
    })
  })

  itLong('has the format that its schema describes', async () => {
    const path = new URL('../../schemas/output/trace.schema.json', import.meta.url)
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(
      JSON.parse(readFileSync(path, 'utf8')) as JsonObject,
    )
    const nothing = ['--visitor', 'unknown', '--assume', 'unmanaged=unknown']
    for (const args of [[url], [url, '--ip', '10.1.1.1'], [url, '--vary'], [url, ...nothing]]) {
      const [found] = await json(...args)
      expect(validate(found), JSON.stringify(validate.errors)).toBe(true)
    }
  })

  it('never shows a secret, which is unknown', async () => {
    append('edgewise.yaml', 'secrets: {token: {env: TOKEN_OF_ORIGIN}}')
    append('domains/www.yaml', '  add_back_source_head:')
    append('domains/www.yaml', '    - {head_name: X-Key, head_value: "${secret:token}"}')
    const [found] = await json(url)
    expect(found).toMatchObject({
      origin: { headers: { 'x-key': { unknown: ['not-given secret:token'] } } },
    })
  })

  it('is shown in sentences, then in lines of 80 columns, then by what was assumed', async () => {
    const { out } = await trace(url)
    expect(out).toBe(
      `GET https://www.example.com/img/a.jpg by a usual visitor               (desired)
Served. Cached for 1 minute by "ext jpg" (profiles/cached.yaml:4), unless the
origin forbids it; the key is the URL. Fetched from 192.0.2.10 over https.
Others are blocked by ip_black_list. Not compressed, no speed limit.

access    allowed        1 check passes (-v lists them)
cache     1 minute       ext jpg                        profiles/cached.yaml:4
  key     www.example.com https /img/a.jpg
  stored  yes
origin    192.0.2.10                                    domains/www.yaml:4
  as      https, port 443, Host: www.example.com
  url     /img/a.jpg
response  200            1 minute in the cache from now on

Assumed   http and https are stored apart (R48); the split among origins is not
          known (R53); 33 items that no manifest mentions are not set. --vary
          shows what each would change; "edgewise explain R48".
`,
    )
  })
})

describe('a text', () => {
  it('names the rule that denies, and only what that rests on', async () => {
    const { out } = await trace(url, '--ip', '203.0.113.7')
    expect(out).toContain('\nDenied with 403 by ip_black_list: 203.0.113.7 (domains/www.yaml:8).\n')
    expect(out).toMatch(/^ {2}ip_black_list +deny +203\.0\.113\.7 +domains\/www\.yaml:8$/m)
    expect(out).toMatch(/^Assumed +a denial has status 403 \(R17\); 33 items/m)
    expect(out).not.toMatch(/^(?:cache|origin|response)|R48/m)
  })

  it('names no reading that changes only what it does not show', async () => {
    append('domains/www.yaml', '  new_origin: [{origin: 192.0.2.20, connect_time: 5}]')
    append('domains/www.yaml', '  connect_timeout: {origin_connect_timeout: 10}')
    const [found] = await json(url)
    expect(found?.['assumed']).toHaveProperty('R68')
    expect((await trace(url)).out).not.toContain('R68')
    expect((await trace(url, '--vary')).out).not.toContain('R68')
  })

  it('names the signature as the one fact that decides', async () => {
    const rule = 'pattern: .*, time_format: timestamp, deadtime: 60, req_uri_type: 1'
    append('edgewise.yaml', 'secrets: {signing: {env: SIGNING}}')
    append('domains/www.yaml', `  visit_timestamp: {${rule}, key: "\${secret:signing}"}`)
    const { out } = await trace(`${url}?key=x&time=1700000000`, '--at', '1700000000')
    expect(out).toContain('\nWhether it is served is unknown: give --signature valid. Cached for')
    expect(out).toMatch(/^access +unknown +give --signature valid$/m)
  })

  it('draws no redirect that a denied request does not reach', async () => {
    place.write(
      'domains/www.yaml',
      place.read('domains/www.yaml').replace('1001}', '1, force_https: 301}'),
    )
    const { out } = await trace(url.replace('https', 'http'), '--ip', '203.0.113.7')
    expect(out).toContain('\nDenied with 403 by ip_black_list')
    expect(out).not.toMatch(/^redirect/m)
    const { out: all } = await trace(url.replace('https', 'http'), '--ip', '203.0.113.7', '-v')
    expect(all).toMatch(/^redirect +301 +https:/m)
  })

  it('names the fact that decides what is unknown, and with -v every reason', async () => {
    append('domains/www.yaml', '  visit_areas_limit: {limit_type: black, country_list: [china]}')
    const unknown = await trace(url, '--visitor', 'unknown')
    expect(unknown.out).toContain('by an unknown visitor')
    expect(unknown.out).toContain('Whether it is served is unknown: give --country NAME.')
    expect(unknown.out).toMatch(/^access +unknown +give --country NAME$/m)
    const all = await trace(url, '--visitor', 'unknown', '-v')
    expect(all.out).toMatch(/^access +unknown +not given: country, ip$/m)
    expect(all.out).toMatch(/^ {2}deny_protocol +pass +not set$/m)
  })

  it('has what another answer of each assumed reading changes, with --vary', async () => {
    const { out } = await trace(url, '--vary')
    expect(out).toMatch(
      /^R48 +http and https are stored apart\.\n +shared: cache\.key www\.example\.com any/m,
    )
    expect(out).not.toContain('--vary')
    const [found] = await json(url, '--vary')
    expect(found?.['vary']).toContainEqual(
      expect.objectContaining({ reading: 'R53', answer: 'equal' }),
    )
    expect((await json(url))[0]).not.toHaveProperty('vary')
  })

  it('says that no rule of the cache matches', async () => {
    const { out } = await trace(`https://${domain}/a.css`)
    expect(out).toContain('Not cached: no cache rule matches, and the origin names no time.')
    expect(out).toMatch(/^cache +origin +no rule$/m)
  })

  it('has at most 80 columns, whatever stands in it', async () => {
    const long = `https://${domain}/${'x/'.repeat(200)}?q=${'y'.repeat(300)}`
    const { out } = await trace(long, '--header', `X-${'Z'.repeat(90)}: 1`, '-v')
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})

describe('facts', () => {
  it('come from options, and from the requests themselves', async () => {
    place.write('r.yaml', `- {url: ${url}, ip: 10.1.1.1}\n- ${url}\n`)
    const found = await json('--requests', 'r.yaml', '--ip', '192.0.2.1')
    expect(found.map((each) => each['outcome'])).toEqual([{ value: 'denied' }, { value: 'served' }])
  })

  it('that are wrong in a file are named by its line', async () => {
    place.write('r.txt', `# two\n\n${url}\nwww.example.com/a\n`)
    const { code, err } = await trace('--requests', 'r.txt')
    expect(code).toBe(1)
    expect(err).toContain('r.txt:4: the URL must begin with http:// or https://')
  })

  it('that are not given are those of a usual visitor, or are unknown', async () => {
    const [usual] = await json(url)
    expect(usual).toMatchObject({ visitor: 'usual', cache: { stored: { value: true } } })
    const [unknown] = await json(url, '--visitor', 'unknown')
    expect(unknown).toMatchObject({
      visitor: 'unknown',
      outcome: { unknown: ['not-given ip'] },
      response: { status: { unknown: ['not-given ip'] } },
    })
  })

  it('are lines of a file with methods and comments', async () => {
    place.write('r.txt', `# two\n\nGET ${url}\n${url}\n`)
    const found = await json('--requests', 'r.txt')
    expect(found.map((each) => (isObject(each['request']) ? each['request'] : {}))).toEqual([
      { url, method: 'GET' },
      { url },
    ])
  })

  const wrong: [string[], string][] = [
    [['ftp://www.example.com/'], 'must begin with http:// or https://'],
    [['https://nope.example.com/'], 'nope.example.com is not a known domain: no manifest has it'],
    [[url, '--ip', '10.0.0'], 'ip must be an IPv4 or IPv6 address'],
    [[url, '--assume', 'R99=search'], 'there is no reading "R99"'],
    [[url, '--assume', 'R4=both'], 'R4 is search, whole; got "both"'],
    [[], 'there is no request to trace'],
    [['https://ww.example.com/'], 'no manifest has it. Did you mean "www.example.com"?'],
    [[url, '--header', 'X-A'], 'Expected "Name: value".'],
    [[url, '--no-header', 'X-A: 1'], 'Expected the name alone.'],
    [[url, '--origin-header', 'cache-control'], 'Expected "Name: value".'],
    [[url, '--body-size', '2MB'], 'Expected a whole number'],
  ]
  it.for(wrong)('that are wrong are an error: %j', async ([args, text]) => {
    const { code, err } = await trace(...args)
    expect(code).toBe(1)
    expect(err.replaceAll(/\s+/g, ' ')).toContain(text)
  })
})

describe('the configuration', () => {
  it('may be that of state', async () => {
    expect((await trace(url, '--of', 'recorded')).err).toContain('no state of it is recorded')
    place.write('domains/www.yaml', `domain: ${domain}\nconfig: {https: {cert_id: 1001}}\n`)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    const [found] = await json(url, '--of', 'recorded')
    expect(found).toMatchObject({ of: 'recorded', connection: { decision: { value: 'open' } } })
  })

  it('may be observed: what it lacks is not set', async () => {
    place.write('live.json', JSON.stringify({ [domain]: { https: { cert_id: 0 } } }))
    const [found] = await json(url, '--of', 'observed', '--observed', 'live.json')
    expect(found).toMatchObject({ outcome: { value: 'refused' }, unmanaged: [] })
  })

  it('may have several candidates', async () => {
    const items = { https: [null, { cert_id: 1 }] }
    place.write('c.json', JSON.stringify({ domain, items }))
    const [found] = await json(url, '--of', 'c.json')
    expect(found).toMatchObject({ connection: { decision: { unknown: ['in-doubt https'] } } })
  })

  it('has readings of the workspace file', async () => {
    append('edgewise.yaml', 'trace: {assume: {R17: 451, unmanaged: [combined_ban]}}')
    const [found] = await json(url, '--ip', '10.1.1.1')
    expect(found).toMatchObject({ response: { status: { value: 451 } } })
    expect(found?.['assumed']).not.toHaveProperty('R17')
    const [unmanaged] = await json(url)
    expect(unmanaged).toMatchObject({ outcome: { unknown: ['unmanaged combined_ban'] } })
  })

  it('is traced by the library too', async () => {
    const found = await open(place.root).trace({ url, ip: '10.1.1.1' })
    expect(found).toMatchObject({ format: 'edgewise.trace/1', outcome: { value: 'denied' } })
    expect(found['assumed']).toMatchObject({ R17: 403 })
  })

  it('is loaded once by the library for many requests', async () => {
    const requests = ['10.1.1.1', '192.0.2.1'].map((ip) => ({ url, ip }))
    const found = await open(place.root).traces(requests, { assume: { R17: 451 } })
    expect(found.map((each) => [each['outcome'], part(each, 'response.status')])).toEqual([
      [{ value: 'denied' }, { value: 451 }],
      [{ value: 'served' }, { value: 200 }],
    ])
    expect(found[0]).not.toHaveProperty('assumed')
    expect(await open(place.root).traces([])).toEqual([])
    await expect(open(place.root).traces([{ url }, { url: 'x' }])).rejects.toThrow('request 2: ')
  })
})

it('a first plan says once how many items are set for the first time', async () => {
  const { out } = await place.cli('plan', '--witness')
  const [, shown] = out.split('What each change does\n')
  expect(shown).toBe('4 items are set for the first time (-v shows what each does)\n')
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  append('domains/www.yaml', '  deny_protocol: {protocol: http}')
  expect((await place.cli('plan', '--witness')).out).toMatch(
    /^What each change does\n\+ deny_protocol {3}www\.example\.com\n {4}GET http:.*\n {4}outcome /m,
  )
})

it('explain readings lists all of them', async () => {
  const { out } = await place.cli('explain', 'readings')
  expect(out.match(/^R\d+ /gm)).toHaveLength(79)
  const one = await place.cli('explain', 'R5')
  expect(one.out).toMatch(
    /^R5 +Which text.*\n +whole-url, path-and-query, path \(whole-url holds\)\n +That is: a reg/,
  )
  append('edgewise.yaml', 'trace: {assume: {R5: path}}')
  const set = await place.cli('explain', 'R5')
  expect(set.out).toMatch(/^R5 .*\n +whole-url.* \(path is set in edgewise\.yaml\)\n\n/)
})

/** Writes another configuration of the domain. */
function configure(config: JsonObject): void {
  place.write('domains/www.yaml', JSON.stringify({ domain, config }))
}

describe('sets are as the manifest has them', () => {
  beforeEach(() => {
    configure({
      https: { cert_id: 1 },
      origin: { default_master: '192.0.2.10' },
      ip_black_list: { list: ['203.0.113.7', '203.0.113.7', '10.0.0.0/8'] },
      add_response_head: {
        list: ['b', 'X-A', 'x-a'].map((name, i) => ({ name, value: String(9 - i) })).toReversed(),
      },
    })
  })

  it('in the pointers of rules', async () => {
    const [found] = await json(url, '--ip', '10.1.1.1')
    const { checks } = (found?.['access'] ?? {}) as { checks: JsonObject[] }
    const check = checks.find(({ item }) => item === 'ip_black_list')
    expect(check?.['rule']).toMatchObject({ pointer: '/list/2', pattern: '10.0.0.0/8' })
  })

  it('in the values of a header, which are joined as they are sent', async () => {
    const [found] = await json(url)
    const { headers } = (found?.['response'] ?? {}) as { headers: JsonObject }
    expect(headers['x-a']).toEqual({ value: ['7', '8'] })
    const { writes } = await place.json('plan')
    expect(JSON.stringify(writes).match(/"name":"x-a"[^}]*7.*"name":"X-A"[^}]*8/)).not.toBeNull()
  })
})

it('a host below a wildcard shares its key with no other domain', async () => {
  const config = { https: { cert_id: 1 }, cache_rule: [{ type: 1, pattern: 'jpg', time: 9 }] }
  place.write('domains/www.yaml', JSON.stringify({ domain: '.wild.example.com', config }))
  const { out } = await trace('https://cdn.wild.example.com/a.jpg')
  expect(out).toContain('; the key is the URL. ')
})

it('a text lists three of the rules that match, too, and cuts long patterns', async () => {
  const pattern = `/${'a'.repeat(60)}/`
  configure({
    https: { cert_id: 1 },
    cache_rule: Array.from({ length: 9 }, (_, i) => ({ type: 2, pattern, time: i + 1 })),
  })
  const { out } = await trace(`https://${domain}${pattern}x`)
  expect(out).toContain(`by "dir\n/${'a'.repeat(45)}…" (domains/www.yaml:1)`)
  expect(out.match(/^ {2}also +\d seconds/gm)).toHaveLength(3)
  expect(out).toMatch(/^ {2}also +and 5 more \(-v lists them\)$/m)
})

it('a refused request rests on nothing that is decided later', async () => {
  configure({
    https: { cert_id: 0 },
    deny_protocol: { protocol: 'https' },
    deny_url: { urls: ['/'] },
  })
  const { out } = await trace(`https://${domain}/`)
  expect(out).toContain('\nRefused: https without a certificate.\n\nAssumed   ')
  expect(out).not.toMatch(/\(R\d/)
})

it('a literal key is no fact that is not given', async () => {
  configure({
    https: { cert_id: 1 },
    visit_timestamp: {
      pattern: '.*',
      time_format: 'timestamp',
      key: 'k',
      deadtime: 9,
      req_uri_type: 1,
    },
  })
  const signed = `${url}?key=${'0'.repeat(32)}&time=1700000000`
  const [found] = await json(signed, '--at', '1700000000', '--assume', 'R34=plain')
  const { checks } = (found?.['access'] ?? {}) as { checks: JsonObject[] }
  expect(checks.find(({ item }) => item === 'visit_timestamp')?.['result']).toEqual({
    unknown: ['undecidable literal secret'],
  })
  const { out } = await trace(signed, '--at', '1700000000', '--assume', 'R34=plain')
  expect(out).toContain('undecidable: literal secret')
  expect(out).not.toContain('not given')
})
