import { afterEach, beforeEach, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { Place } from '../steps/cli.ts'
import { itLong } from '../runs.ts'

const profile = `profile: base
config:
  cache_rule:
    - {type: 1, pattern: jpg, time: 9}
    - {type: 2, pattern: /a/, time: 60}
    - {type: 1, pattern: jpg, time: 9}
    - {type: 4, pattern: '^(?=x)', time: 9}
`

let place: Place
beforeEach(() => {
  place = new Place('emulator').write('profiles/base.yaml', profile)
  for (let i = 0; i < 12; i++)
    place.write(`domains/d${i}.yaml`, `domain: d${i}.example.com\nprofiles: [base]\nconfig: {}\n`)
})
afterEach(() => place.remove())

async function list(): Promise<JsonObject[]> {
  const { out } = await place.cli('validate', '--json')
  return (JSON.parse(out) as { diagnostics: JsonObject[] }).diagnostics
}

itLong('reports one diagnostic at the profile, for all domains that use it', async () => {
  const { code, out, err } = await place.cli('validate')
  expect([code, out.match(/^\S+(?=  warning)/gm)]).toEqual([0, ['profiles/base.yaml:6:7']])
  expect(out).toContain(
    'cache_rule rule 3 (jpg) repeats cache_rule rule 1 (jpg) (12 domains). Remove',
  )
  expect(out).toContain('profiles/base.yaml:4:7  the other rule or value')
  expect(err).toContain('1 rule could not be compared; see them with --verbose.')
  const [found, ...others] = await list()
  expect(others).toEqual([])
  expect(found).toMatchObject({
    code: 'rule-duplicate',
    severity: 'warning',
    pointer: '/config/cache_rule/2',
    count: 12,
    finding: {
      rule: { item: 'cache_rule', pointer: '/2', pattern: 'jpg' },
      other: [{ item: 'cache_rule', pointer: '/0', pattern: 'jpg' }],
      rests: {},
      proof: 'text',
      witness: { url: 'https://d0.example.com/x.jpg' },
    },
  })
  expect(JSON.stringify(found).match(/"d\d+\.example\.com"/g)).toHaveLength(12)
  expect(found?.['related']).toHaveLength(11)
})

it('shows with --verbose what could not be compared', async () => {
  const { out } = await place.cli('validate', '-v')
  expect(out).toContain('profiles/base.yaml:7:7  note  This rule could not be compared')
})

itLong('says once that lists were not compared, without --verbose', async () => {
  const urls = Array.from({ length: 300 }, (_, i) => `[a-f]+x{${i}}(?:y|z)[0-9]`)
  const config = JSON.stringify({ deny_url: { urls } })
  for (const name of ['a', 'b', 'c', 'd'])
    place.write(`domains/${name}.yaml`, `domain: ${name}.example.net\nconfig: ${config}\n`)
  const { code, out } = await place.cli('validate')
  expect(code).toBe(0)
  expect(out.match(/^.*Not all rules were compared$/gm)).toHaveLength(1)
  expect(out.replace(/\s+/g, ' ')).toContain('takes too long, and ended early (4 domains)')
})

it('points to the manifest that has the rule, and separates it from the profile', async () => {
  place.write(
    'domains/own.yaml',
    'domain: own.example.com\nprofiles: [base]\nconfig:\n  cache_rule:\n' +
      '    $append:\n      - {type: 2, pattern: /a/b/, time: 1}\n' +
      "  deny_url:\n    urls: ['^http://x/', b, ab]\n",
  )
  const found = (await list()).filter(({ file }) => file === 'domains/own.yaml')
  expect(found).toMatchObject([
    {
      code: 'rule-shadowed',
      line: 6,
      column: 9,
      pointer: '/config/cache_rule/$append/0',
      related: [{ file: 'profiles/base.yaml', line: 5 }],
    },
    { code: 'rule-never-matches', line: 8, column: 12, pointer: '/config/deny_url/urls/0' },
    {
      code: 'entry-redundant',
      severity: 'note',
      line: 8,
      column: 29,
      pointer: '/config/deny_url/urls/2',
      related: [{ file: 'domains/own.yaml', line: 8, column: 26 }],
    },
  ])
})

it('is a notice for GitHub, and a note in SARIF', async () => {
  place.write(
    'profiles/base.yaml',
    'profile: base\nconfig:\n  referer: {type: 2, list: ["*.a.com", b.a.com]}\n',
  )
  const github = await place.cli('validate', '--format', 'github')
  expect([github.code, github.out.slice(0, 50)]).toEqual([
    0,
    '::notice file=profiles/base.yaml,line=3,endLine=3,',
  ])
  const sarif = await place.cli('validate', '--format', 'sarif')
  expect(sarif.out).toContain('"level": "note"')
})

it('rests on answers that the workspace file does not set', async () => {
  const rules =
    'cache_rule: [{type: 3, pattern: /a/*, time: 1}, {type: 3, pattern: /a/b/c, time: 2}]'
  place.write('profiles/base.yaml', `profile: base\nconfig:\n  ${rules}\n`)
  expect((await place.cli('validate')).out).toMatch(/if R8 is any\s+\(12\s+domains\)/)
  place.configure('trace: {assume: {R8: any}}')
  expect((await place.cli('validate')).out).toContain('warning  An earlier rule hides this one')
})

/** Lists the findings of a manifest of one domain: pointer, count and detail. */
async function listOf(config: JsonObject): Promise<string[]> {
  place.remove()
  place = new Place('emulator').manifest('a.example.com', config)
  return (await list()).map(
    ({ code, pointer, detail }) => `${String(code)} ${String(pointer)} ${String(detail)}`,
  )
}

it('reports each covered entry of one pattern, for as many domains as have it', async () => {
  place.write(
    'profiles/base.yaml',
    'profile: base\nconfig:\n  cache_rule: [{type: 2, pattern: "/a/,/a/b/,/a/c/", time: 9}]\n',
  )
  const found = await list()
  expect(found.map(({ count, finding }) => [count, (finding as JsonObject)['rule']])).toEqual(
    ['/a/b/', '/a/c/'].map((pattern) => [
      12,
      { item: 'cache_rule', pointer: '/0/pattern', pattern },
    ]),
  )
})

it('reports entries that stand twice, at the later one', async () => {
  expect(
    await listOf({
      ip_black_list: { list: ['203.0.113.7', '10.0.0.0/8', '203.0.113.7'] },
      referer: { type: 1, list: ['b.example', 'a.example', 'B.example'], allow_empty: true },
    }),
  ).toEqual([
    expect.stringMatching(/^entry-redundant \/config\/ip_black_list\/list\/2 .*203\.0\.113\.7/),
    expect.stringMatching(/^entry-redundant \/config\/referer\/list\/2 .*b\.example/),
  ])
})

it('ends with findings where an expression matches everything', async () => {
  const found = await listOf({
    cache_rule: [
      { type: 3, pattern: '/', time: 90 },
      { type: 4, pattern: '.*', time: 60 },
      { type: 1, pattern: 'jpg', time: 60 },
    ],
  })
  expect(found).toEqual([expect.stringMatching(/^rule-shadowed \/config\/cache_rule\/2 /)])
})
