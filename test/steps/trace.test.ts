import { formatTraceSentence } from '../../src/outlets/report/trace/sentence.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../src/core/model/json.ts'
import { open } from '../../src/index.ts'
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

const all = ['--assume', 'unmanaged=absent']
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
    const [found] = await json(url, '--ip', '10.1.1.1', ...all)
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
    for (const args of [[url], [url, ...all, '--ip', '10.1.1.1'], [url, '--strict']]) {
      const [found] = await json(...args)
      expect(validate(found), JSON.stringify(validate.errors)).toBe(true)
    }
  })

  it('never shows a secret, which is unknown', async () => {
    append('edgewise.yaml', 'secrets: {token: {env: TOKEN_OF_ORIGIN}}')
    append('domains/www.yaml', '  add_back_source_head:')
    append('domains/www.yaml', '    - {head_name: X-Key, head_value: "${secret:token}"}')
    const [found] = await json(url, ...all)
    expect(found).toMatchObject({
      origin: { headers: { 'x-key': { unknown: ['not-given secret:token'] } } },
    })
  })

  it('is shown in lines of 80 columns with footnotes', async () => {
    const { out } = await trace(url, '--ip', '192.0.2.1', '--method', 'GET', '--no-other-headers')
    expect(out).toMatch(/^cache +1 min \* +ext jpg \* +profiles\/cached\.yaml:4$/m)
    expect(out).toMatch(/^outcome +served \*$/m)
    expect(out).toMatch(/^response +unknown +not given: origin\.status$/m)
    expect(out).toMatch(/^give +--origin-status 200 --no-other-origin-headers$/m)
    expect(out).toMatch(/^\* +if the \d+ items that no manifest mentions are not set$/m)
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})

describe('a text', () => {
  it('names the rule that denies if unmanaged items are not set', async () => {
    const { out } = await trace(url, '--ip', '203.0.113.7')
    expect(out).toMatch(/^outcome +denied \*$/m)
    expect(out).toMatch(/^ {2}ip_black_list +deny .*203\.0\.113\.7 +domains\/www\.yaml:8$/m)
  })

  it('lists the readings of what it shows', async () => {
    const { out } = await trace(url, '--ip', '203.0.113.7')
    expect(out).toMatch(/^assumed +R17 403/m)
    const opened = await trace(url, '--ip', '203.0.113.7', '--assume', 'R17=unspecified')
    expect(opened.out).toMatch(/^response +unknown +not specified: R17$/m)
  })

  it('has every reason with -v', async () => {
    const { out } = await trace(url, '-v')
    expect(out).toMatch(/unmanaged: /)
  })

  it('says that no rule of the cache matches', async () => {
    const { out } = await trace(`https://${domain}/a.css`)
    expect(out).toMatch(/^cache +origin .*no rule/m)
  })
})

describe('facts', () => {
  it('come from options, and from the requests themselves', async () => {
    place.write('r.yaml', `- {url: ${url}, ip: 10.1.1.1}\n- ${url}\n`)
    const found = await json('--requests', 'r.yaml', '--ip', '192.0.2.1', ...all)
    expect(found.map((each) => each['outcome'])).toEqual([{ value: 'denied' }, { value: 'served' }])
  })

  it('that are wrong in a file are named by its line', async () => {
    place.write('r.txt', `# two\n\n${url}\nwww.example.com/a\n`)
    const { code, err } = await trace('--requests', 'r.txt')
    expect(code).toBe(1)
    expect(err).toContain('r.txt:4: the URL must begin with http:// or https://')
  })

  it('may say that the origin sends no other headers', async () => {
    const origin = ['--origin-status', '200', '--no-other-origin-headers']
    const [found] = await json(url, '--method', 'GET', ...origin, ...all)
    expect(found).toMatchObject({ cache: { stored: { value: true }, lifetime: {} } })
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
    [[url, '--assume', 'R4=both'], 'R4 is search, whole, unspecified; got "both"'],
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
    append('edgewise.yaml', 'trace: {preset: strict, assume: {R17: 451, unmanaged: absent}}')
    const [found] = await json(url, '--ip', '10.1.1.1')
    expect(found).toMatchObject({ response: { status: { value: 451 } } })
  })

  it('is traced by the library too', async () => {
    const found = await open(place.root).trace(
      { url, ip: '10.1.1.1' },
      { assume: { unmanaged: 'absent' } },
    )
    expect(found).toMatchObject({ format: 'edgewise.trace/1', outcome: { value: 'denied' } })
  })
})

it('explain readings lists all of them', async () => {
  const { out } = await place.cli('explain', 'readings')
  expect(out.match(/^R\d+ /gm)).toHaveLength(79)
  const one = await place.cli('explain', 'R5')
  expect(one.out).toMatch(/^R5 +Which text.*\n +whole-url, path-and-query, path/)
})

describe('the outcome in sentences', () => {
  const ask = async (...args: string[]) => {
    const [found = {}] = await json(url, '--method', 'GET', ...args)
    return formatTraceSentence(found)
  }

  it('has the time of the cache, its rule and the origin', async () => {
    expect(await ask('--ip', '192.0.2.1')).toBe(
      'It is served. It is cached for 1 minute by the rule jpg. ' +
        'The edge fetches it from 192.0.2.10. This holds if what is not managed here is not set.',
    )
    expect(await ask('--ip', '192.0.2.1', ...all)).not.toContain('This holds')
  })

  it('has what denies or redirects a request, and what is not known', async () => {
    expect(await ask('--ip', '10.1.2.3', ...all)).toBe('It is denied with 403 by ip_black_list.')
    expect(await ask(...all)).toContain('Whether it is served is not known (not given: ip).')
    place.write(
      'domains/www.yaml',
      `domain: ${domain}\nconfig: {https: {cert_id: 1, force_https: 301}}\n`,
    )
    const [found = {}] = await json(`http://${domain}/a`, '--method', 'GET', ...all)
    expect(formatTraceSentence(found)).toBe(`It is redirected with 301 to https://${domain}/a.`)
  })
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
    const [found] = await json(url, ...all, '--ip', '10.1.1.1')
    const { checks } = (found?.['access'] ?? {}) as { checks: JsonObject[] }
    const check = checks.find(({ item }) => item === 'ip_black_list')
    expect(check?.['rule']).toMatchObject({ pointer: '/list/2', pattern: '10.0.0.0/8' })
  })

  it('in the values of a header, which are joined as they are sent', async () => {
    const [found] = await json(url, ...all, '--no-other-origin-headers')
    const { headers } = (found?.['response'] ?? {}) as { headers: JsonObject }
    expect(headers['x-a']).toEqual({ value: ['7', '8'] })
    const { writes } = await place.json('plan')
    expect(JSON.stringify(writes).match(/"name":"x-a"[^}]*7.*"name":"X-A"[^}]*8/)).not.toBeNull()
  })
})

it('a literal key is no fact that is not given', async () => {
  configure({
    visit_timestamp: {
      pattern: '.*',
      time_format: 'timestamp',
      key: 'k',
      deadtime: 9,
      req_uri_type: 1,
    },
  })
  const signed = `${url}?key=${'0'.repeat(32)}&time=1700000000`
  const [found] = await json(signed, ...all, '--at', '1700000000', '--assume', 'R34=plain')
  const { checks } = (found?.['access'] ?? {}) as { checks: JsonObject[] }
  expect(checks.find(({ item }) => item === 'visit_timestamp')?.['result']).toEqual({
    unknown: ['undecidable literal secret'],
  })
  const { out } = await trace(signed, ...all, '--at', '1700000000', '--assume', 'R34=plain')
  expect(out).toContain('undecidable: literal secret')
  expect(out).not.toContain('not given')
})
