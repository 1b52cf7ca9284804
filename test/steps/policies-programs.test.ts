// @module-tag often
// @module-tag nightly
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { parseFindings } from '../../src/manifest/policies/parse-findings.ts'
import { fetchWrites, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }

setStage()

/** Writes a program that stores its input and its environment, and then runs `text`. */
function program(text: string, level = 'hard', more = ''): void {
  place.write('check.sh', `#!/bin/sh\ncat > input.json\nenv > env.txt\n${text}\n`)
  chmodSync(join(place.root, 'check.sh'), 0o755)
  place.write(
    'policies/check.yaml',
    `policy: check\nlevel: ${level}\ncommand: [./check.sh, --strict]\n${more}`,
  )
}
const print = (...findings: object[]) =>
  `cat <<'END'\n${JSON.stringify({ format: 'edgewise.findings/1', findings })}\nEND`
const many = Array.from({ length: 1001 }, () => ({ message: 'x' }))
const hasRun = () => existsSync(join(place.root, 'input.json'))
const forget = () => rmSync(join(place.root, 'input.json'), { force: true })
const flat = (text: string) => text.replaceAll(/\s+/g, ' ')
const apply = (...more: string[]) => place.cli('apply', '--yes', ...more)
const found = { message: 'no TLS', domain: www, item: 'origin', pointer: '/origin_mode' }
const override = ['--override', 'check', '--reason', 'an emergency'] as const

beforeEach(() => void place.manifest(www, { origin: plain }))

describe('a policy that is a program', () => {
  it('is run by apply after consent, and by plan only with --run-policies', async () => {
    program(print())
    const lines = ['validate', 'policies', 'test --allow-empty', 'plan', 'plan --out p.json']
    for (const line of lines) expect((await place.cli(...line.split(' '))).code).toBe(0)
    expect((await place.cli('drift')).code).toBe(2)
    expect(flat((await place.cli('plan')).err)).toContain(
      'not run: 1 program of policies (check). apply runs each before its first write',
    )
    const asked: boolean[] = []
    place.ask = () => {
      asked.push(hasRun())
      return Promise.resolve(asked.length > 1)
    }
    const declined = await place.cli('apply')
    expect([declined.code, hasRun()]).toEqual([1, false])
    expect(flat(declined.err)).toContain('After consent, the plan is judged by 1 program')
    expect((await place.cli('plan', '--run-policies')).code).toBe(0)
    const plan = JSON.parse(place.read('input.json')) as object
    const shown = (await place.json('plan')) as object
    expect({ ...plan, warnings: [] }).toEqual({ ...shown, warnings: [], policies: undefined })
    forget()
    expect((await place.cli('apply')).code).toBe(0)
    expect([asked, hasRun()]).toEqual([[false, false], true])
    forget()
    expect((await apply()).code).toBe(0)
    expect((await place.cli('plan', '--run-policies')).err).toBe('')
    expect(hasRun()).toBe(false)
  })

  it.each(['advisory', 'soft', 'hard'])('%s: what it finds', async (level) => {
    program(print(found, { message: 'not on a Friday' }), level)
    const { err, out } = await place.cli('plan', '--run-policies', '--json')
    expect(err).toContain(`check (${level}): no TLS`)
    expect(JSON.parse(out)).toMatchObject({
      policies: {
        violations: [
          { policy: 'check', level, domains: [www], file: `domains/${www}.yaml`, line: 1 },
          { policy: 'check', level, domains: [], file: 'policies/check.yaml', line: 3 },
        ],
      },
    })
    const { code, err: refused } = await apply()
    expect(code).toBe(level === 'advisory' ? 0 : 1)
    expect(refused).toContain(`check (${level}): not on a Friday`)
    if (level === 'advisory') return
    expect(await fetchWrites(emulator)).toEqual([])
    const overridden = await apply(...override)
    expect(overridden.code).toBe(level === 'soft' ? 0 : 1)
    if (level === 'hard') expect(overridden.err).toContain("it can't be overridden")
    else
      expect(await place.json('state', 'history')).toMatchObject({
        applies: [{ overrides: [{ policy: 'check', reason: 'an emergency' }] }],
      })
  })

  it.each([
    ['exit 3', 'failed (exit 3)'],
    ['kill -9 $$', 'failed (SIGKILL)'],
    ['sleep 60 & sleep 60', 'no answer within 1 s'],
    ['true', 'it printed no JSON object'],
    ['echo "{"', 'it printed no JSON object'],
    ['echo []', 'it printed no JSON object'],
    ['echo {}', 'it printed no {"format": "edgewise.findings/1"'],
    [`echo '{"format": "edgewise.findings/2", "findings": []}'`, 'it printed no {"format"'],
    [`${print()}; echo x`, 'it printed no JSON object'],
    [print({ message: 'x', severity: 'low' }), '/findings/0: there is no key "severity"'],
    [print({ message: '' }), '/findings/0: expected a "message" of 1 to 1000'],
    [print({ message: 'x', pointer: 'a' }), 'is no JSON pointer'],
    [print({ message: null }), '"message" is no text'],
    [print({ message: 'x', domain: 7 }), '"domain" is no text'],
    [print({}), 'expected a "message"'],
    [print({ message: 'x', domain: 'w.example.com' }), 'names "w.example.com", which the plan'],
    [print({ message: 'x', domain: www, item: 'orgin' }), '"orgin", which is no item'],
    [print(...many), 'no list of at most 1000 "findings"'],
    ['head -c 2000000 /dev/zero', 'printed more than 1024 KiB'],
    ['head -c 900000 /dev/zero | tr "\\0" "["', 'it printed no JSON object'],
    ["printf '\\377'", 'printed no text'],
  ])('fails closed: %#', async (text, why) => {
    program(text, 'hard', 'timeoutSeconds: 1\n')
    const { code, err } = await apply()
    expect([code, flat(err)]).toEqual([1, expect.stringContaining(flat(why))])
    expect(err).toContain('check (hard): the policy has no answer')
    expect(await fetchWrites(emulator)).toEqual([])
    const plan = await place.json('plan', '--run-policies')
    expect(plan).toMatchObject({ policies: { violations: [{ policy: 'check', refused: true }] } })
  })

  it('may be missing, and need not read its input', async () => {
    program(print())
    place.write('check.sh', `#!/bin/sh\nexec 0<&-\n${print()}\n`)
    expect((await apply()).code).toBe(0)
    rmSync(join(place.root, 'check.sh'))
    place.manifest(www, { timeout: { time: 60 } })
    expect((await apply()).err).toContain('the command "./check.sh" failed (ENOENT)')
  })

  it('gets no secret, and what it prints is inert', async () => {
    place.configure('secrets: {signing: {env: SIGNING_KEY}}')
    const keys = { SIGNING_KEY: 'a-signing-key-1', EDGEWISE_SERVE_TOKEN: 'a-serve-token-1' }
    Object.assign(place.env, { ...keys, COPY: 'x a-signing-key-1', OWN: 'y' })
    const bad = `\u001b[31m\u202e\n::error::x ${token}`
    program(print({ message: bad }))
    const { out, err } = await apply()
    expect(place.read('env.txt')).toContain('OWN=y')
    for (const text of [out, err, place.read('env.txt'), place.read('input.json')]) {
      expect(text).not.toContain(token)
      for (const key of Object.values(keys)) expect(text).not.toContain(key)
    }
    // oxlint-disable-next-line no-control-regex
    expect(out + err).not.toMatch(/[\0-\x08\x0b-\x1f\u202e]|^::error/mu)
    const reports = ['p.md', 'p.html'].flatMap((file) => ['--report', file])
    await place.cli('plan', '--run-policies', ...reports)
    for (const file of ['p.md', 'p.html']) {
      const text = readFileSync(join(place.root, file), 'utf8')
      expect(text).toContain('::error::x')
      expect(text).not.toContain(token)
    }
  })

  it('judges a repair and a saved plan, and no rollback', async () => {
    program(print())
    place.manifest(www, { origin: plain, timeout: { time: 59 } })
    expect((await apply()).code).toBe(0)
    place.manifest(www, { origin: plain, timeout: { time: 60 } })
    expect((await place.cli('plan', '--out', 'p.json')).code).toBe(0)
    program(print({ message: 'no' }))
    expect((await place.cli('apply', 'p.json')).err).toContain('check (hard): no')
    program(print())
    expect((await place.cli('apply', 'p.json')).code).toBe(0)
    program(print({ message: 'no' }))
    forget()
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(hasRun()).toBe(false)
    place.manifest(www, { origin: plain, timeout: { time: 61 } })
    const repair = await place.cli('drift', '--repair', '--include-pending', '--yes')
    expect([repair.code, hasRun()]).toEqual([1, true])
  })

  it('the library', async () => {
    program(print({ message: 'no' }), 'soft')
    const library = open(place.root, { outside: { env: { EDGEWISE_TOKEN: token } } })
    expect((await library.plan()).policies?.stopping).toEqual([])
    expect((await library.plan({ runPolicies: true })).policies?.stopping).toHaveLength(1)
    await expect(library.apply()).rejects.toMatchObject({ code: 'guarded' })
    const request = { overrides: ['check'], reason: 'tested' }
    expect((await library.apply(request)).overrides).toEqual([
      { policy: 'check', reason: 'tested' },
    ])
  })

  it('is listed, and can not be named by a test', async () => {
    program(print())
    expect((await place.cli('policies')).out).toBe(
      'check  hard · covers each plan · program ./check.sh --strict\n  policies/check.yaml:1:9\n',
    )
    expect(await place.json('policies')).toMatchObject({
      policies: [{ name: 'check', on: 'plan', command: ['./check.sh', '--strict'], judged: 0 }],
    })
    place.write('tests/a.yaml', 'test: a\ngiven: {}\nexpect: {violates: [check]}\n')
    expect((await place.cli('test')).err).toContain('is a program, which tests do not run')
  })
})

it('the schema of findings allows what Edgewise accepts', () => {
  const schema = new URL('../../schemas/findings.schema.json', import.meta.url)
  const validate = new Ajv2020().compile(JSON.parse(readFileSync(schema, 'utf8')) as object)
  const format = 'edgewise.findings/1'
  const entries = [found, {}, null, 'x', { message: '' }, { message: 'x'.repeat(1001) }]
  const others = [
    { ...found, pointer: '' },
    { ...found, pointer: 'x' },
    { ...found, item: null },
  ]
  const values: unknown[] = [{}, [], { format }, { format, findings: {} }, { format, findings: [] }]
  values.push({ format, findings: [], more: 1 }, { format: 'x', findings: [] })
  values.push({ format, findings: many }, { format, findings: many.slice(1) })
  for (const each of [...entries, ...others]) values.push({ format, findings: [each] })
  for (const value of values)
    expect([value, 'fault' in parseFindings(JSON.stringify(value))]).toEqual([
      value,
      !validate(value),
    ])
})

it.each([
  ['on: domain', '4:5', 'it is not for a policy with "command"'],
  ['requests: x', '4:1', 'it is not for a policy with "command"'],
  ['timeoutSeconds: 0', '4:17', 'expected a whole number from 1 to 600'],
  ['command: []', '3:1', 'expected at least one entry'],
  ['command: [""]', '3:11', 'expected a text'],
  ['command: ["a\\0"]', '3:11', 'expected a text'],
  ['command: ./check.sh', '3:10', 'expected a list, got "./check.sh". Write "[./check.sh]"'],
  ['deny: "true"\ntimeoutSeconds: 1', '4:1', 'it is only for a policy with "command"'],
])('%s is an error', async (text, at, message) => {
  const command = /^(?:command|deny):/.test(text) ? '' : 'command: [a]\n'
  place.write('policies/p.yaml', `policy: p\nlevel: hard\n${command}${text}\n`)
  const { code, out } = await place.cli('validate')
  expect([code, flat(out)]).toEqual([1, expect.stringContaining(`policies/p.yaml:${at}`)])
  expect(flat(out)).toContain(message)
})
