import { beforeEach, describe, expect, it } from 'vitest'
import { place, setWorkspace } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }
const served = { https: { cert_id: 1001, http2: 'on', force_https: '301' } }

setWorkspace()

const policies = {
  tls: 'on: domain\nwhen: has(config.origin)\ndeny: config.origin.origin_mode == "http"',
  timeout: 'on: domain\nwhen: has(config.timeout)\ndeny: int(config.timeout.time) > 30',
  open: 'on: request\nrequests: tests/login.txt\ndeny: trace.connection.decision == "open"',
  lower:
    'on: change\nwhen: change.item == "timeout" && change.action == "change"\n' +
    'deny: int(change.after.time) < int(change.before.time)',
  replaced: 'on: write\ndeny: write.forms.exists(i, write.forms[i] == "replace")',
  several: 'on: plan\ndeny: plan.items.size() > 1',
  signed: 'on: change\nwhen: change.item == "visit_timestamp"\ndeny: type(change.after.key) == map',
}

function declare(...names: (keyof typeof policies)[]): void {
  for (const name of names)
    place.write(
      `policies/${name}.yaml`,
      `policy: ${name}\nlevel: hard\n${policies[name]}\nmessage: "no ${name}"\n`,
    )
}

async function run(...lines: string[]): Promise<[number, string]> {
  place.write('tests/a.yaml', `${['test: a', ...lines].join('\n')}\n`)
  const { code, out, err } = await place.cli('test')
  return [code, (out + err).replaceAll(/\s+/g, ' ')]
}

const givenPlain = `given: {config: {origin: ${JSON.stringify(plain)}}}`
const request = 'requests: [{url: "https://www.example.com/login"}]'

beforeEach(() => void place.manifest(www, { origin: plain, ...served }))

describe('a test passes if it violates exactly what it names', () => {
  it.each([
    ['tls', givenPlain],
    ['tls', `domains: [${www}]`],
    ['timeout', 'given: {config: {timeout: {time: 60}}}'],
    ['', 'given: {config: {timeout: {time: 20}}}'],
    ['tls, open', `domains: [${www}]\n${request}`],
    ['tls, lower, replaced', `${givenPlain}\nplan: {from: {timeout: {time: 60}}}`, 20],
    ['tls, replaced', `${givenPlain}\nplan: {from: {timeout: {time: 10}}}`, 20],
    ['tls, replaced, several', `${givenPlain}\nplan: {from: {timeout: null, origin: null}}`, 20],
    ['', 'given: {}\nplan: {from: {}, writes: 0}'],
  ])('[%s] %s', async (names, text, timeout = 0) => {
    declare('tls', 'timeout', 'open', 'lower', 'replaced', 'several')
    const more = `, timeout: {time: ${timeout}}}}`
    const given = timeout === 0 ? text : text.replace('}}}', `}${more}`)
    expect(await run(given, `expect: {violates: [${names}]}`)).toEqual([0, expect.any(String)])
  })

  it('a plan test has secrets as a plan has them', async () => {
    declare('signed')
    place.configure('secrets: {signing: {env: NOT_THERE}}')
    const value = 'pattern: .*, time_format: timestamp, deadtime: 60, req_uri_type: 1'
    const given = `given: {config: {visit_timestamp: {${value}, key: "\${secret:signing}"}}}`
    const plan = 'plan: {from: {visit_timestamp: null}}'
    const [code, text] = await run(given, plan, 'expect: {violates: [signed]}')
    expect([code, text]).toEqual([0, expect.stringContaining('1 test passed')])
  })
})

describe('a test fails', () => {
  it.each([
    ['[]', givenPlain, 'tls tests/a.yaml:3:10 expected not violated got violated: no tls'],
    ['[tls]', 'given: {config: {timeout: {time: 9}}}', 'expected violated got not violated'],
    ['[tls]', `domains: [${www}, a.example.com]`, 'a.example.com tls tests/a.yaml:3:21'],
    ['[]', `given: {config: {timeout: {time: "9"}}}`, null],
  ])('%s %s', async (names, text, message) => {
    declare('tls', 'timeout')
    place.manifest('a.example.com', { timeout: { time: 9 } })
    const [code, shown] = await run(text, `expect: {violates: ${names}}`)
    if (message === null) expect(code).toBe(0)
    else expect([code, shown]).toEqual([1, expect.stringContaining(message)])
  })

  it('names the value that a policy looked at', async () => {
    declare('tls')
    const [, shown] = await run(`domains: [${www}]`, 'expect: {violates: []}')
    expect(shown).toContain(`why origin/origin_mode domains/${www}.yaml:1`)
    const failures = [{ check: 'policy', name: 'tls', domains: [www], expected: 'not violated' }]
    expect(JSON.parse((await place.cli('test', '--json')).out)).toMatchObject({
      tests: [{ failures }],
    })
  })

  it.each(['[]', '[faulty]'])('a policy without an answer: %s', async (names) => {
    place.write(
      'policies/p.yaml',
      'policy: faulty\nlevel: advisory\non: domain\ndeny: config.origin.port == "1"\nmessage: x\n',
    )
    const [code, shown] = await run(givenPlain, `expect: {violates: ${names}}`)
    expect([code, shown]).toEqual([1, expect.stringContaining('got no answer: the key "port"')])
  })

  it('an answer that is not known, or a request that contradicts its configuration', async () => {
    place.write(
      'policies/p.yaml',
      'policy: login\nlevel: hard\non: request\nrequests: x.txt\n' +
        'deny: trace.outcome == "denied"\nmessage: x\n',
    )
    const lines = [`domains: [${www}]`, request, 'expect: {violates: []}'] as const
    expect((await run(...lines))[0]).toBe(0)
    const [code, shown] = await run(...lines, 'assume: {unmanaged: [ip_black_list]}')
    expect([code, shown]).toEqual([1, expect.stringContaining('"trace.outcome" is not known')])
    const key = 'key: "${secret:k}", deadtime: 60, req_uri_type: 1'
    const item = `visit_timestamp: {pattern: .*, time_format: timestamp, ${key}}`
    place.configure('secrets: {k: {env: NOT_THERE}}')
    const signed = 'https://www.example.com/v?key=x&time=1700000000'
    const facts = 'at: 1700000000, secrets: {k: k1}, signature: valid'
    const [failed, why] = await run(
      `given: {config: {${item}}}`,
      `requests: [{url: "${signed}", ${facts}}]`,
      'assume: {unmanaged: absent, R34: plain}',
      'expect: {violates: []}',
    )
    expect([failed, why]).toEqual([1, expect.stringContaining('error: signature: valid contr')])
  })

  itLong('is an error for what can not be judged', async () => {
    declare('tls', 'open', 'lower')
    for (const [names, text, at, message] of [
      ['[tsl]', givenPlain, '3:21', 'there is no policy "tsl". Did you mean "tls"?'],
      ['[tls, open]', givenPlain, '3:26', '"open" is on: request, and this test has no "requests"'],
      ['[lower]', givenPlain, '3:21', '"lower" is on: change, and this test has no "plan"'],
      ['tls', givenPlain, '3:20', 'expected a list'],
      ['[tls], violate: []', givenPlain, '3:27', 'there is no field "violate"'],
    ] as const) {
      const [code, shown] = await run(text, `expect: {violates: ${names}}`)
      expect([code, shown]).toEqual([1, expect.stringContaining(`tests/a.yaml:${at}`)])
      expect(shown).toContain(message)
    }
    const [code, shown] = await run(`domains: [${www}]`, request)
    expect([code, shown]).toEqual([1, expect.stringContaining('"expect" is required here')])
  })

  it('is an error without any policy that judges it, or with a broken one', async () => {
    declare('open')
    const lines = [givenPlain, 'expect: {violates: []}'] as const
    expect(await run(...lines)).toEqual([1, expect.stringContaining('no policy of the workspace')])
    place.write('policies/p.yaml', 'policy: p\n')
    expect(await run(...lines)).toEqual([1, expect.stringContaining('policies/p.yaml:1:1')])
    expect((await run('given: {}', 'emulator: accepts'))[0]).toBe(0)
  })
})

it('--mutate counts what a policy guards', async () => {
  declare('tls')
  place.write('tests/a.yaml', `test: a\ndomains: [${www}]\nexpect: {violates: [tls]}\n`)
  const { out } = await place.cli('test', '--mutate')
  expect(out).not.toContain('origin/origin_mode')
  expect(out).toContain('https/force_https')
})
