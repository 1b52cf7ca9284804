import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removedKeys } from '../../src/manifest/workspace-file/removed-keys.ts'
import { fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }

setStage()

function writePolicy(level: string, deny = 'config.origin.origin_mode == "http"', more = ''): void {
  place.write(
    'policies/tls.yaml',
    `policy: tls\nlevel: ${level}\non: domain\n${more}deny: ${deny}\n` +
      'message: "${domain.name} has no TLS"\n',
  )
}

it.each([
  ['advisory', 0, 'warning'],
  ['soft', 0, 'warning'],
  ['hard', 1, 'error'],
])('validate: a violation of a policy that is %s', async (level, code, severity) => {
  place.manifest(www, { origin: plain })
  writePolicy(level)
  const ran = await place.cli('validate', '--json')
  expect(ran.code).toBe(code)
  expect(JSON.parse(ran.out)).toMatchObject({
    valid: code === 0,
    diagnostics: [
      {
        severity,
        code: 'policy-violated',
        detail: `tls (${level}): ${www} has no TLS.`,
        file: `domains/${www}.yaml`,
        domain: www,
        item: 'origin',
        related: [{ file: 'policies/tls.yaml', line: 4, column: 7, message: 'the policy' }],
      },
    ],
  })
  for (const format of ['text', 'github', 'sarif'])
    expect((await place.cli('validate', '--format', format)).out).toContain(`${www} has no TLS`)
})

it.each([
  [
    'a domain without the item',
    'config.origin.origin_mode == "http"',
    'the key "origin" is missing',
  ],
  ['a text for a number', 'config.timeout.time > "30"', 'do not fit: int > string'],
])('%s warns, and is an error of a hard policy', async (_name, deny, why) => {
  place.manifest(www, { timeout: { time: 60 } })
  for (const level of ['advisory', 'soft', 'hard']) {
    writePolicy(level, deny)
    const { code, out } = await place.cli('validate', '--json')
    const isHard = level === 'hard'
    expect(code).toBe(isHard ? 1 : 0)
    expect(JSON.parse(out)).toMatchObject({
      diagnostics: [
        {
          severity: isHard ? 'error' : 'warning',
          code: 'policy-failed',
          detail: expect.stringContaining(why) as string,
        },
      ],
    })
  }
})

it('a value of a profile is one problem at the profile, with the domains', async () => {
  place.write('profiles/base.yaml', `profile: base\nconfig: {origin: ${JSON.stringify(plain)}}\n`)
  for (const name of ['a', 'b', 'c'])
    place.write(`domains/${name}.yaml`, `domain: ${name}.example.com\nprofiles: [base]\n`)
  writePolicy('hard')
  const { out } = await place.cli('validate', '--json')
  expect(JSON.parse(out)).toMatchObject({
    diagnostics: [
      {
        file: 'profiles/base.yaml',
        line: 2,
        count: 3,
        detail:
          'tls (hard): a.example.com has no TLS. The same holds for 2 other domains: ' +
          'b.example.com, c.example.com.',
        related: [
          { file: 'domains/a.yaml', message: 'used by a.example.com' },
          { file: 'domains/b.yaml', message: 'used by b.example.com' },
          { file: 'domains/c.yaml', message: 'used by c.example.com' },
          { file: 'policies/tls.yaml', message: 'the policy' },
        ],
      },
    ],
  })
})

it.each([
  ['deny: config.origin.origin_mode = "http"', 4, 33, 'unexpected character'],
  ['deny: "config.orgin == 1"', 4, 8, 'there is no item "orgin"'],
  ['deny: |\n  true &&\n    config.orgin == 1', 6, 5, 'there is no item "orgin"'],
  ['deny: "1 == 1"\nwhen: 1 + 1', 5, 7, 'expected true or false, got the type int'],
  ['deny: "1 == 1"\nwhen: request.url == ""', 5, 7, 'unknown variable: request'],
  ['deny: "1 == 1"\ndney: true', 5, 1, 'there is no key "dney" here. Did you mean "deny"?'],
  ['when: "1 == 1"', 1, 1, 'also needs "deny"'],
  ['deny: "1 == 1"\nrequests: x.txt', 5, 11, 'it is only for "on: request". Remove it.'],
  ...Object.entries(removedKeys.policy).map(([key, advice]): [string, number, number, string] => [
    `deny: "1 == 1"\n${key}: [x]`,
    5,
    1,
    `"${key}" was removed: ${advice}`,
  ]),
  ['deny: "1 == 1"\nexcept: [{policy: tls, reason: x}]', 5, 10, 'the key "until" is required'],
  [
    'deny: "1 == 1"\nexcept: [{policy: tls, reason: x, until: 2026-02-30}]',
    5,
    42,
    'expected a day of the calendar',
  ],
  [
    'deny: "1 == 1"\nexcept: [{policy: tls, items: [orgin], reason: x, until: 2026-03-30}]',
    5,
    32,
    'there is no item "orgin"',
  ],
])('%s is an error of the policy', async (text, line, column, detail) => {
  place.manifest(www, { origin: plain })
  place.write('policies/p.yaml', `policy: tls\nlevel: hard\non: domain\n${text}\nmessage: no\n`)
  const { code, out } = await place.cli('validate', '--json')
  expect([code, JSON.parse(out)]).toMatchObject([
    1,
    {
      diagnostics: [
        {
          code: 'policy-invalid',
          file: 'policies/p.yaml',
          line,
          column,
          detail: expect.stringContaining(detail) as string,
        },
      ],
    },
  ])
})

it('a policy that was a program says what to do instead, and judges nothing', async () => {
  place.manifest(www, { origin: plain })
  place.write('policies/p.yaml', 'policy: p\nlevel: advisory\ncommand: [touch, ran]\n')
  const { code, out } = await place.cli('validate')
  expect(code).toBe(1)
  expect(out).toContain('policies/p.yaml:3:1')
  expect(out.replaceAll(/\s+/g, ' ')).toContain('"command" was removed: policies are expressions.')
  for (const args of [['plan'], ['apply', '--yes']]) {
    const ran = await place.cli(...args)
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('the policies have errors')])
  }
  expect(existsSync(join(place.root, 'ran'))).toBe(false)
  expect(await fetchWrites(emulator)).toEqual([])
})

it('a name is declared once, and files of policies are no manifests', async () => {
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}manifests: ["**/*.yaml"]\n`)
  place.manifest(www, { origin: plain })
  writePolicy('advisory', 'false')
  expect((await place.cli('validate')).out).toContain('Valid: 1 domain')
  expect((await place.cli('validate', 'policies/tls.yaml')).code).toBe(0)
  place.write('policies/two.yml', place.read('policies/tls.yaml'))
  const { code, out } = await place.cli('validate')
  expect(code).toBe(1)
  expect(out).toContain('the policy "tls" is already declared in policies/tls.yaml')
})

it('policies lists what each covers', async () => {
  expect((await place.cli('policies')).out).toContain('There is no policy')
  place.manifest(www, { origin: plain }).manifest('a.example.com', { timeout: { time: 60 } })
  writePolicy('soft', undefined, 'when: has(config.origin)\n')
  expect((await place.cli('policies')).out).toBe(
    'tls  soft · covers 1 domain · 1 violation\n  policies/tls.yaml:1:9\n',
  )
  expect(await place.json('policies')).toEqual({
    format: 'edgewise.policies/1',
    policies: [
      {
        name: 'tls',
        level: 'soft',
        on: 'domain',
        file: 'policies/tls.yaml',
        line: 1,
        column: 9,
        judged: 1,
        violations: 1,
        excepted: 0,
      },
    ],
    exceptions: [],
  })
})

it('explain policy has every variable', async () => {
  const { out } = await place.cli('explain', 'policy')
  for (const name of ['domain.name', 'config', 'change.after', 'write.domains', 'plan.waves'])
    expect(out).toContain(name)
})

it('validate: policies and levels of findings work together', async () => {
  const allowed = '# edgewise: allow secret-suspected until 2099-12-31: it is public'
  place.write(
    `domains/${www}.yaml`,
    `domain: ${www}\nexcept:\n  - {policy: tls, until: 2099-12-31, reason: other}\nconfig:\n` +
      '  origin: {default_master: 192.0.2.10, origin_mode: https}\n' +
      `${allowed}\n`,
  )
  writePolicy('hard')
  const list = async (): Promise<unknown> => {
    const { diagnostics } = (await place.json('validate')) as { diagnostics: { code: string }[] }
    return diagnostics.map(({ code }) => code).toSorted()
  }
  expect(await list()).toEqual(['exception-unused', 'suppression-unused'])
  place.configure('checks: {exception-unused: off, suppression-unused: off}')
  expect(await list()).toEqual([])
  writePolicy('hard', 'config.origin.origin_mode == "https"')
  place.manifest(www, { origin: { ...plain, origin_mode: 'https' } })
  expect(await list()).toEqual(['policy-violated'])
})
