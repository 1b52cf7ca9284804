// @module-tag often
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { setFaults, fetchConfig, token, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const www = 'www.example.com'
setStage()

const signed = (deadtime = 60) => ({
  visit_timestamp: {
    pattern: '.*',
    time_format: 'timestamp',
    key: '${secret:signing}',
    deadtime,
    req_uri_type: 1,
  },
})
const heads = (other: string) => ({
  add_response_head: {
    list: [
      { name: 'Authorization', value: 'Bearer ${secret:origin}' },
      { name: 'X-Other', value: other },
    ],
  },
})

/** Writes a program that prints a value, counts its runs and stores its environment. */
function program(name: string, text: string): void {
  const script = `#!/bin/sh\necho ${name} >> runs.log\nenv > ${name}.env\n${text}\n`
  place.write(`${name}.sh`, script)
  chmodSync(join(place.root, `${name}.sh`), 0o755)
}
const give = (name: string, value: string) => program(name, `printf '%s\\n' '${value}'`)
const runs = () => {
  const log = join(place.root, 'runs.log')
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
}
const forgetRuns = () => rmSync(join(place.root, 'runs.log'), { force: true })
const workspace = (more: string) => {
  const home = join(place.root, 'edgewise.yaml')
  place.write('edgewise.yaml', `${readFileSync(home, 'utf8')}${more}\n`)
}
const key = async () => (await fetchConfig(emulator, www))['visit_timestamp']
const state = async () => JSON.stringify(await place.recorded(www))

beforeEach(() => {
  workspace('secrets: {signing: {command: [./signing.sh]}, origin: {command: [./origin.sh]}}')
  give('signing', 'first-signing-key')
  give('origin', 'first-origin-token')
})

describe('the command of a secret', () => {
  it('runs after consent to the plan, and for no other command', async () => {
    place.manifest(www, signed())
    const others = ['validate', 'plan', 'plan --json', 'drift', 'fmt --check']
    for (const line of others) await place.cli(...line.split(' '))
    expect((await place.cli('apply')).code).toBe(1)
    const asked: number[] = []
    place.ask = () => {
      asked.push(runs().length)
      return Promise.resolve(asked.length > 1)
    }
    expect((await place.cli('apply')).code).toBe(1)
    expect([asked, runs(), await fetchWrites(emulator)]).toEqual([[0], [], []])
    const { code, out } = await place.cli('apply')
    expect([code, asked, runs()]).toEqual([0, [0, 0], ['signing']])
    expect(out).toContain('value not available')
    expect(await key()).toMatchObject({ key: 'first-signing-key' })
    expect(await state()).toMatch(/"\$secret":"scrypt:/)
    expect(await state()).not.toContain('unresolved')
    forgetRuns()
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    const looked = JSON.stringify({ [www]: { visit_timestamp: await key() } })
    place.write('live.json', looked)
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(0)
    expect(runs()).toEqual([])
  })

  it('does not run if a guard refuses', async () => {
    workspace(`guards: {protect: ["${www}"]}`)
    expect((await place.manifest(www, signed()).cli('apply', '--yes')).code).toBe(1)
    expect(runs()).toEqual([])
  })

  it('does not run if another secret of the plan is unavailable', async () => {
    const home = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    place.write('edgewise.yaml', home.replace('{command: [./origin.sh]}', '{file: none.txt}'))
    const ran = await place.manifest(www, { ...signed(), ...heads('x') }).cli('apply', '--yes')
    expect([ran.code, runs(), await fetchWrites(emulator)]).toEqual([1, [], []])
    const message = ran.err.replace(/\s+/g, ' ')
    expect(message).toContain("origin: the file none.txt can't be read: it does not exist")
  })

  it('runs only for secrets in the writes', async () => {
    place.manifest(www, { ...signed(), ...heads('x'), timeout: { time: 60 } })
    await place.settle()
    expect(runs().toSorted()).toEqual(['origin', 'signing'])
    place.manifest(www, { ...signed(90), ...heads('x'), timeout: { time: 61 } })
    for (const [item, expected] of [
      ['timeout', []],
      ['visit_timestamp', ['signing']],
    ] as const) {
      forgetRuns()
      expect((await place.cli('apply', '--yes', '--item', item)).code).toBe(0)
      expect(runs()).toEqual(expected)
    }
  })

  it('runs for a delta of other list entries, which contains the secret', async () => {
    // A delta is cheaper only for both domains together.
    const both = (other: string) =>
      [www, 'b.example.com'].forEach((domain) => {
        const { list } = heads(other).add_response_head
        const own = [...list, { name: 'X-Own', value: domain }]
        place.manifest(domain, { add_response_head: { list: own } })
      })
    both('x')
    await place.settle()
    give('origin', 'second-origin-token')
    forgetRuns()
    both('y')
    const writesAsDelta = [{ forms: { add_response_head: 'add' } }]
    expect(await place.json('plan')).toMatchObject({ writes: writesAsDelta })
    await place.settle()
    expect(runs()).toEqual(['origin'])
    expect(await fetchConfig(emulator, www)).toMatchObject({
      add_response_head: { list: [{ value: 'Bearer second-origin-token' }, { value: 'y' }, {}] },
    })
    // The new value is recorded.
    expect((await place.cli('apply', '--yes')).err).toContain('unchanged, not sent')
  })

  it('is not needed for a delta of a plan that knew the secret', async () => {
    const home = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    place.write('edgewise.yaml', home.replace('{command: [./origin.sh]}', '{env: ORIGIN}'))
    const withSecret = { ...place.env, ORIGIN: 'first-origin-token' }
    const [known, unknown] = [withSecret, { ...place.env }]
    const domains = [www, 'b.example.com']
    const both = (other: string) => {
      for (const domain of domains) {
        const { list } = heads(other).add_response_head
        const own = [...list, { name: 'X-Own', value: domain }]
        place.manifest(domain, { add_response_head: { list: own } })
      }
    }
    place.env = known
    both('x')
    await place.settle()
    const before = await state()
    both('y')
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    place.env = unknown
    // A refused delta is sent again by domain; the whole list with the secret is not available.
    await setFaults(emulator, { kind: 'refuse', item: 'add_response_head', probability: 1 })
    const refused = await place.cli('apply', 'plan.json')
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('refused:')])
    await setFaults(emulator, { kind: 'refuse', domain: www, probability: 1 })
    expect((await place.cli('apply', 'plan.json')).code).toBe(3)
    expect(await fetchConfig(emulator, 'b.example.com')).toMatchObject({
      add_response_head: { list: [{}, { value: 'y' }, {}] },
    })
    expect(await state()).toContain(/scrypt:[0-9a-f]+/.exec(before)?.[0])
    await setFaults(emulator)
    place.env = known
    await place.settle()
  })

  it('provides the value to send, even if another value is recorded', async () => {
    await place.manifest(www, signed()).settle()
    give('signing', 'second-signing-key')
    forgetRuns()
    place.manifest(www, signed(90))
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    const before = await state()
    const ran = await place.cli('apply', 'plan.json')
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.err.replace(/\s+/g, ' ')).toContain('signing differs from its recorded value')
    expect(runs()).toEqual(['signing'])
    expect(await key()).toMatchObject({ key: 'second-signing-key', deadtime: 90 })
    const [old, now] = [before, await state()].map((text) => /scrypt:[0-9a-f]+/.exec(text)?.[0])
    expect(now).toBeDefined()
    expect(now).not.toBe(old)
    place.write('live.json', JSON.stringify({ [www]: { visit_timestamp: await key() } }))
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    const shown = [ran.out, ran.err, now].join('')
    expect(shown).not.toMatch(/(first|second)-signing/)
  })

  it.each<[string, string, string]>([
    ['fails', 'exit 3', 'the command "./signing.sh" failed (exit 3)'],
    ['prints nothing', 'true', 'the command "./signing.sh" printed nothing'],
    ['prints the token', `echo ${token}`, 'service.token'],
    ['prints too much', 'yes | head -c 3000000', 'the command "./signing.sh" failed'],
  ])('ends the apply before anything is sent or recorded if it %s', async (_what, text, why) => {
    workspace('rollout: {waves: [1, 100%], pause: 0m}')
    program('signing', text)
    place.manifest(www, { ...signed(), timeout: { time: 60 } }).manifest('b.example.com', signed())
    for (const waves of [[], ['--no-waves']]) {
      const ran = await place.cli('apply', '--yes', ...waves)
      expect([ran.code, ran.err.replace(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(why)])
    }
    expect(await fetchWrites(emulator)).toEqual([])
    expect(await place.json('state', 'list')).toMatchObject({ domains: [] })
    expect((await place.json('state', 'history'))['applies']).toEqual([])
    expect(existsSync(join(place.root, '.edgewise/state')) ? place.loadRollouts() : []).toEqual([])
  })

  it('with an invalid value within a text is refused as well', async () => {
    give('origin', `x' ; printf 'a\\nb`)
    const ran = await place.manifest(www, heads('x')).cli('apply', '--yes')
    expect([ran.code, await fetchWrites(emulator)]).toEqual([1, []])
    expect((await place.json('state', 'history'))['applies']).toEqual([])
    expect(ran.err.replace(/\s+/g, ' ')).toContain('with the value of its secret')
  })

  it('gets neither the token, under any variable, nor other secrets', async () => {
    const home = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    const named = home.replace('${env:EDGEWISE_TOKEN}', '${env:OTHER_NAME}')
    const sources = named.replace('secrets: {', 'secrets: {cookie: {env: COOKIE}, ')
    place.write('edgewise.yaml', `${sources}\nsign: {key: {env: HISTORY_KEY}}\n`)
    const serveToken = 'a-token-of-serve-1'
    const pem = 'a-key-of-history-1'
    place.env = {
      OTHER_NAME: token,
      AUTH_HEADER: `Bearer ${token}`,
      COOKIE: 'cookie-value',
      COOKIE_LINE: 'cookie=cookie-value',
      VAULT_ADDRESS: 'https://vault.example.net',
      EDGEWISE_SERVE_TOKEN: serveToken,
      HISTORY_KEY: pem,
      COPY: `${serveToken} ${pem}`,
    }
    expect((await place.manifest(www, signed()).cli('apply', '--yes')).code).toBe(0)
    const seen = readFileSync(join(place.root, 'signing.env'), 'utf8')
    expect(seen).toContain('VAULT_ADDRESS=https://vault.example.net')
    expect(seen).not.toContain(token)
    expect(seen).not.toMatch(/OTHER_NAME|AUTH_HEADER|COOKIE|cookie-value|SERVE|HISTORY|COPY/)
  })

  it('leaves its fingerprint in the intents of an apply, in-doubt or not', async () => {
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await place.manifest(www, signed()).cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    const doubted = await state()
    expect(doubted).toMatch(/"in-doubt".*"\$secret":"scrypt:|"\$secret":"scrypt:.*"in-doubt"/)
    expect(doubted).not.toContain('unresolved')
    await place.settle()
    expect(await key()).toMatchObject({ key: 'first-signing-key' })
  })

  it('runs once for all waves of a rollout', async () => {
    workspace('rollout: {waves: [1, 100%], pause: 1m}')
    place.time = { now: Date.UTC(2026, 10, 20, 12) }
    const domains = [www, 'b.example.com', 'c.example.com']
    for (const domain of domains) place.manifest(domain, signed())
    await place.settle()
    give('signing', 'second-signing-key')
    for (const domain of domains) place.manifest(domain, signed(90))
    forgetRuns()
    await place.settle()
    expect(runs()).toEqual(['signing'])
    for (const domain of domains)
      expect(await fetchConfig(emulator, domain)).toMatchObject({
        visit_timestamp: { key: 'second-signing-key', deadtime: 90 },
      })
  })

  it('runs in a rollout with the first wave that needs it', async () => {
    workspace('rollout: {waves: [1, 100%], pause: 1m, first: [a.example.com]}')
    const before: string[][] = []
    place.time = {
      now: Date.UTC(2026, 10, 20, 12),
      onSleep: async (_ms, name) => {
        if (name === 'rollout') before.push(runs())
      },
    }
    place.manifest('a.example.com', { timeout: { time: 60 } }).manifest(www, signed())
    await place.settle()
    expect(before.length).toBeGreaterThan(0)
    expect([before.flat(), runs()]).toEqual([[], ['signing']])
  })
})

describe('a rollback', () => {
  beforeEach(async () => {
    await place.manifest(www, { ...signed(60), ...heads('x') }).settle()
    await place.manifest(www, { ...signed(90), ...heads('x') }).settle()
    forgetRuns()
  })

  it('runs the command after the question, and sends the value', async () => {
    const asked: string[][] = []
    place.ask = () => {
      asked.push(runs())
      return Promise.resolve(asked.length > 1)
    }
    expect((await place.cli('rollback')).code).toBe(1)
    expect([asked, runs()]).toEqual([[[]], []])
    expect((await place.cli('rollback')).code).toBe(0)
    expect([asked, runs()]).toEqual([[[], []], ['signing']])
    expect(await key()).toMatchObject({ key: 'first-signing-key', deadtime: 60 })
    forgetRuns()
    expect((await place.cli('rollback', '--yes')).code).toBe(1)
    expect(runs()).toEqual([])
  })

  it('sends and records the current value', async () => {
    give('signing', 'second-signing-key')
    const ran = await place.cli('rollback', '--yes')
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringContaining('differs from its recorded value'),
    ])
    expect(await key()).toMatchObject({ key: 'second-signing-key', deadtime: 60 })
    place.write('live.json', JSON.stringify({ [www]: { visit_timestamp: await key() } }))
    const drifted = await place.json('drift', '--observed', 'live.json')
    expect(drifted).toMatchObject({ summary: { live: 0 } })
  })

  it('skips an item after its command gave another value', async () => {
    give('signing', 'second-signing-key')
    await place.manifest(www, { ...signed(120), ...heads('x') }).settle()
    const { applies } = (await place.json('state', 'history')) as { applies: JsonObject[] }
    forgetRuns()
    const ran = await place.cli('rollback', String(applies[0]?.['id']), '--yes')
    expect(runs()).toEqual([])
    const message = ran.err.replace(/\s+/g, ' ')
    expect(message).toContain('value is not available (signing)')
    expect(await key()).toMatchObject({ key: 'second-signing-key', deadtime: 120 })
  })
})

describe('a repair', () => {
  it('runs the command after the question', async () => {
    place.groupAsDocumented()
    await place.manifest(www, { ...signed(60), timeout: { time: 60 } }).settle()
    forgetRuns()
    const look = (more: JsonObject) => {
      const items = { timeout: { time: '60' }, ...more }
      return place.write('live.json', JSON.stringify({ [www]: items }))
    }
    const other = { ...signed(99).visit_timestamp, key: 'somebody-elses-key' } as Json
    look({ visit_timestamp: other })
    const args = ['drift', '--observed', 'live.json', '--repair'] as const
    place.ask = () => Promise.resolve(false)
    expect((await place.cli(...args)).code).toBe(1)
    expect(runs()).toEqual([])
    look({ timeout: { time: '99' } })
    expect((await place.cli(...args, '--yes')).code).toBe(0)
    // Only the timeout drifted; the secret is compared with --include-pending.
    expect(runs()).toEqual([])
    const all = await place.cli(...args, '--yes', '--include-pending')
    expect([all.code, all.err]).toEqual([0, expect.stringContaining('not sent')])
    expect(runs()).toEqual(['signing'])
    forgetRuns()
    look({ visit_timestamp: other })
    expect((await place.cli(...args, '--yes')).code).toBe(0)
    expect(runs()).toEqual(['signing'])
    expect(await key()).toMatchObject({ key: 'first-signing-key', deadtime: 60 })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })
})
