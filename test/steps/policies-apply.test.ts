import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { describeApply } from '../../src/outlets/notify/notification.ts'
import type { Executed } from '../../src/operations/submission/executed.ts'
import { fetchWrites, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }

setStage()

const lists = {
  domain: 'config.origin.origin_mode == "http"',
  change: 'change.item == "origin" && change.after.origin_mode == "http"',
  write: '"origin" in write.items && write.forms.origin == "replace"',
  plan: 'plan.domains.size() > 0 && plan.changes.exists(c, c.item == "origin")',
}

function writePolicy(level: string, on: keyof typeof lists = 'domain', deny = lists[on]): void {
  const text = `policy: tls\nlevel: ${level}\non: ${on}\ndeny: '${deny}'\nmessage: no TLS\n`
  place.write('policies/tls.yaml', text)
}

const apply = (...more: string[]) => place.cli('apply', '--yes', ...more)
const override = ['--override', 'tls', '--reason', 'the certificate comes on Monday']

it.each(Object.keys(lists) as (keyof typeof lists)[])(
  'a hard policy on a %s: plan says so, apply refuses whatever is passed',
  async (on) => {
    place.manifest(www, { origin: plain })
    writePolicy('hard', on)
    const plan = await place.cli('plan')
    expect([plan.code, plan.err]).toEqual([
      0,
      expect.stringContaining('apply will refuse this plan. tls (hard): no TLS'),
    ])
    for (const more of [[], ['--force', '--allow', 'origin']]) {
      const { code, err } = await apply(...more)
      expect([code, err]).toEqual([1, expect.stringContaining('tls (hard): no TLS')])
    }
    const { code, err } = await apply(...override)
    expect([code, err]).toEqual([1, expect.stringContaining("it can't be overridden")])
    expect(await fetchWrites(emulator)).toEqual([])
  },
)

it.each(Object.keys(lists) as (keyof typeof lists)[])(
  'a soft policy on a %s is overridden with a reason, which the history has',
  async (on) => {
    place.configure('guards: {reason: [override]}')
    place.manifest(www, { origin: plain })
    writePolicy('soft', on)
    const plan = await place.cli('plan')
    expect(plan.err).toContain('apply will refuse this plan. tls (soft): no TLS')
    expect(plan.err.replaceAll(/\s+/g, ' ')).toContain('--override tls --reason TEXT')
    const refused = await apply()
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--override tls')])
    expect((await apply('--override', 'tls')).err).toContain('an override needs a reason')
    expect((await apply('--reason', 'x'.repeat(501))).err).toContain('expected at most 500')
    expect((await apply('--override', 'tls', '--reason', ' ')).code).toBe(1)
    expect((await apply('--override', 'tsl', '--reason', 'x')).err).toContain('no policy "tsl"')
    expect(await fetchWrites(emulator)).toEqual([])
    const done = await apply(...override)
    expect([done.code, done.err]).toEqual([0, expect.stringContaining('tls (soft): no TLS')])
    expect((await place.cli('state', 'history')).out).toContain(
      'policy tls overridden: the certificate comes on Monday',
    )
    expect(await place.json('state', 'history')).toMatchObject({
      applies: [{ overrides: [{ policy: 'tls', reason: 'the certificate comes on Monday' }] }],
    })
  },
)

it('an advisory policy warns; an override that was not needed is not recorded', async () => {
  place.manifest(www, { origin: plain })
  writePolicy('advisory')
  expect((await place.cli('plan')).err).toContain('tls (advisory): no TLS')
  expect((await place.cli('plan')).err).not.toContain('will refuse')
  const { code, err } = await apply(...override)
  expect([code, err]).toEqual([0, expect.stringContaining('tls (advisory): no TLS')])
  expect(await place.json('state', 'history')).not.toHaveProperty('applies.0.overrides')
})

it('plan annotates what validate does not judge, in GitHub Actions', async () => {
  place.manifest(www, { origin: plain })
  place.env['GITHUB_ACTIONS'] = 'true'
  const annotate = async (...more: string[]) =>
    (await place.cli('plan', ...more)).out.split('\n').filter((line) => line.startsWith('::'))
  for (const on of ['change', 'write', 'plan'] as const) {
    writePolicy('hard', on)
    const at = on === 'plan' ? 'policies/tls.yaml,line=4,' : `domains/${www}.yaml,line=1,`
    const start = `^::error file=${at}`
    expect(await annotate()).toEqual([expect.stringMatching(`${start}.*tls .hard.: no TLS`)])
  }
  writePolicy('hard', 'domain')
  expect(await annotate()).toEqual([])
  expect(await annotate('--json')).toEqual([])
})

itLong('a policy without an answer refuses, and so does a file with an error', async () => {
  place.manifest(www, { timeout: { time: 60 } })
  writePolicy('hard')
  expect((await place.cli('plan')).err).toContain('the key "origin" is missing')
  expect((await apply()).code).toBe(1)
  writePolicy('soft')
  expect((await apply()).code).toBe(1)
  writePolicy('advisory')
  expect((await apply()).code).toBe(0)
  place.manifest(www, { timeout: { time: 61 } })
  writePolicy('advisory', 'domain', 'config.orgin == 1')
  for (const command of [['plan'], ['apply', '--yes'], ['policies']]) {
    const { code, err } = await place.cli(...command)
    expect([code, err]).toEqual([1, expect.stringContaining('policies/tls.yaml:4:8')])
  }
})

itLong('plan lists all violations; only those of changed domains stop it', async () => {
  for (const name of ['a', 'b']) place.manifest(`${name}.example.com`, { origin: plain })
  expect((await apply()).code).toBe(0)
  writePolicy('hard')
  place.manifest('a.example.com', { origin: plain, timeout: { time: 60 } })
  expect(await place.json('plan', '--report', 'plan.md', '--report', 'plan.html')).toMatchObject({
    policies: {
      violations: [
        { policy: 'tls', level: 'hard', refused: true, domains: ['a.example.com'], line: 1 },
        { policy: 'tls', level: 'hard', refused: false, domains: ['b.example.com'] },
      ],
      exceptions: [],
    },
  })
  for (const file of ['plan.md', 'plan.html'])
    expect(readFileSync(join(place.root, file), 'utf8')).toContain('no TLS')
  place.manifest('a.example.com', { origin: plain })
  place.manifest('c.example.com', {
    timeout: { time: 60 },
    origin: { ...plain, origin_mode: 'https' },
  })
  expect((await apply()).code).toBe(0)
})

itLong('a saved plan is judged by the policies of today; a rollback is not refused', async () => {
  place.manifest(www, { origin: plain })
  expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
  writePolicy('hard')
  const { code, err } = await place.cli('apply', 'plan.json')
  expect([code, err]).toEqual([1, expect.stringContaining('tls (hard): no TLS')])
  writePolicy('advisory')
  expect((await place.cli('apply', 'plan.json')).code).toBe(0)
  place.manifest(www, { origin: { ...plain, origin_mode: 'https' } })
  writePolicy('hard')
  expect((await apply()).code).toBe(0)
  expect((await place.cli('rollback', '--yes')).code).toBe(0)
  const repaired = await place.cli('plan')
  expect(repaired.code).toBe(0)
})

it.each(['advisory', 'soft', 'hard'])('the library: %s', async (level) => {
  place.manifest(www, { origin: plain })
  writePolicy(level)
  const library = open(place.root, { outside: { env: { EDGEWISE_TOKEN: token } } })
  expect(await library.validate()).toMatchObject([{ code: 'policy-violated' }])
  const { policies } = await library.plan()
  expect(policies?.stopping).toHaveLength(level === 'advisory' ? 0 : 1)
  const request = { overrides: ['tls'], reason: 'tested' }
  if (level === 'advisory') expect((await library.apply()).status).toBe('done')
  else {
    await expect(library.apply()).rejects.toMatchObject({ code: 'guarded' })
    if (level === 'soft') expect((await library.apply(request)).status).toBe('done')
    else await expect(library.apply(request)).rejects.toMatchObject({ code: 'usage' })
  }
})

it('a notification has the override with its reason', () => {
  const counts = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }
  const finished = {
    type: 'apply.finished' as const,
    time: '2026-11-20T03:00:00.000Z',
    apply: 'one',
    ...counts,
    parts: counts,
    releases: 0,
    seconds: 1,
  }
  const overrides = [{ policy: 'tls', reason: 'on Monday' }]
  const about = { by: { name: 'ada' }, plan: { basis: { commit: null } } }
  const end = { status: 'done', inWaves: false, result: { refusals: [] }, doubts: [] }
  const executed = { finished, overrides, ...about, ...end } as unknown as Executed
  const content = describeApply(executed)
  expect(content?.title).toContain('Policy tls was overridden: on Monday.')
})

describe('policies on requests', () => {
  const write = (level: string, deny: string, requests = 'https://www.example.com/login\n') => {
    place.write('tests/login.txt', requests)
    place.write(
      'policies/login.yaml',
      `policy: login\nlevel: ${level}\non: request\nrequests: tests/login.txt\n` +
        `deny: '${deny}'\nmessage: "\${request.url} is \${trace.connection.decision}"\n`,
    )
  }
  const served = { https: { cert_id: 1001, http2: 'on', force_https: '301' } }

  it.each(['advisory', 'soft', 'hard'])('%s: what a request meets is judged', async (level) => {
    place.manifest(www, served)
    write(level, 'trace.connection.decision == "open"')
    const { code, out } = await place.cli('validate', '--json')
    expect([code, JSON.parse(out)]).toMatchObject([
      level === 'hard' ? 1 : 0,
      { diagnostics: [{ code: 'policy-violated', domain: www, file: `domains/${www}.yaml` }] },
    ])
    expect(out).toContain('https://www.example.com/login is open')
    expect((await apply()).code).toBe(level === 'advisory' ? 0 : 1)
  })

  it.each(['advisory', 'soft', 'hard'])('%s: an answer is not known', async (level) => {
    place.manifest(www, { ...served, ip_black_list: { list: ['203.0.113.7'] } })
    write(level, 'trace.outcome == "denied"')
    const { code, out } = await place.cli('validate')
    expect([code, out.replaceAll(/\s+/g, ' ')]).toEqual([
      level === 'hard' ? 1 : 0,
      expect.stringContaining('"trace.outcome" is not known (not-'),
    ])
    expect((await apply()).code).toBe(level === 'hard' ? 1 : 0)
  })

  it.each(['soft', 'hard'])('%s: a pass rests on a reading that nobody has set', async (level) => {
    place.manifest(www, { ...served, deny_url: { urls: ['https://www.example.com/log'] } })
    write(level, 'trace.outcome == "served"')
    const { code, out } = await place.cli('validate')
    expect([code, out.replaceAll(/\s+/g, ' ')]).toEqual([
      level === 'hard' ? 1 : 0,
      expect.stringContaining('it passes only if R4 is search; set R4 with trace.assume'),
    ])
    place.configure('trace: {assume: {R4: search, R27: either}}')
    const settled = await place.cli('validate')
    expect([settled.code, settled.out]).toEqual([0, expect.not.stringContaining('passes only')])
  })

  it.each([
    ['https://other.example.com/\n', 'other.example.com is not a known domain'],
    ['', 'request'],
  ])('the file %j is an error of the policy', async (requests, why) => {
    place.manifest(www, served)
    write('advisory', 'trace.outcome == "denied"', requests)
    const { code, out } = await place.cli('validate')
    expect([code, out]).toEqual([1, expect.stringContaining(why)])
    expect(out).toContain('policies/login.yaml:4:11')
  })
})
