// @module-tag often
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { passPlan, secretSources, signed } from '../stories/secrets-through-ci.ts'
import { fetchWrites, Place, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => `${name}.example.com`) as [
  string,
  string,
  string,
  string,
]
const first = { EDGEWISE_TOKEN: token, SIGNING: 'first-signing-key', TWIN: 'first-twin-key' }
const flat = (text: string) => text.replace(/\s+/g, ' ')

setStage()

/** Enters a workspace with two secrets, and more lines in its file. */
function enter(more = ''): Place {
  enterPlace(new Place(emulator.url, secretSources + more))
  place.env = { ...first }
  return place
}

/** Adds guards to the workspace file. */
const guard = (guards: string) =>
  void place.write('edgewise.yaml', `${place.read('edgewise.yaml')}guards: ${guards}\n`)

/** Plans without secrets, and applies that plan with these. */
const pass = (env = {}) =>
  passPlan(
    place,
    place,
    () => void (place.env = {}),
    () => void (place.env = { ...first, ...env }),
  )
const countWrites = async () => (await fetchWrites(emulator)).length
const savedPlan = () => JSON.parse(place.read('plan.json')) as JsonObject

it('says of no secret that it does not know what its change does', async () => {
  await enter().manifest(a, signed()).settle()
  place.env = {}
  const { out } = await place.cli('plan', '--witness', '--json')
  expect(JSON.parse(out)).toMatchObject({ summary: { conditional: 1 }, witnesses: [] })
})

describe('guards of secrets that a plan does not know', () => {
  it('of a freeze refuse only what is sent', async () => {
    await enter().manifest(a, signed()).settle()
    guard('{freeze: [{from: 2000-01-01, to: 3000-01-01, reason: sale}]}')
    const same = await pass()
    expect(flat(same.planned.err)).toContain('may refuse this plan, if secrets differ. freeze:')
    expect(same.applied.code).toBe(0)
    const { applied } = await pass({ SIGNING: 'second-signing-key' })
    expect([applied.code, JSON.parse(applied.out)]).toMatchObject([1, { code: 'guarded' }])
  })

  it('refuse other changes before a command runs, whatever the secrets are', async () => {
    enterPlace(new Place(emulator.url, 'secrets: {signing: {command: [./signing.sh]}}\n'))
    place.write('signing.sh', '#!/bin/sh\necho run >> runs.log\necho first-signing-key\n')
    const { chmodSync, existsSync, rmSync } = await import('node:fs')
    chmodSync(join(place.root, 'signing.sh'), 0o755)
    await place.manifest(a, signed()).manifest(b, signed()).settle()
    rmSync(join(place.root, 'runs.log'))
    guard(`{protect: ["${b}"]}`)
    place.manifest(b, { ...signed(), timeout: { time: 60 } })
    const planned = await place.cli('plan')
    expect(flat(planned.err)).toContain(`apply will refuse this plan. protect: ${b} is protected`)
    expect(planned.err).not.toContain('may refuse')
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect(existsSync(join(place.root, 'runs.log'))).toBe(false)
    // Without it, only what differs counts.
    place.manifest(b, signed()).manifest(a, { ...signed(), timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
  })
})

describe('a plan with other changes', () => {
  it('sends no domain and no item whose secrets are as recorded', async () => {
    await enter()
      .manifest(a, signed())
      .manifest(b, signed(60, 'twin'))
      .manifest(c, signed())
      .settle()
    guard(`{protect: ["${a}"]}`)
    // The writes of the plan have the protected domain beside one that changes.
    place.manifest(d, signed()).manifest(b, { ...signed(60, 'twin'), timeout: { time: 60 } })
    const before = await countWrites()
    const { planned, applied } = await pass()
    expect([planned.code, applied.code]).toEqual([2, 0])
    expect(savedPlan()).toMatchObject({ summary: { domains: 4, change: 3, conditional: 3 } })
    const sent = (await fetchWrites(emulator)).slice(before)
    expect(sent.map(({ domains, items }) => [domains, items])).toEqual([
      [[b], ['timeout']],
      [[d], ['visit_timestamp']],
    ])
  })

  it('sends the writes of a plan that has known the secrets', async () => {
    enter()
    const names = Array.from({ length: 24 }, (_, i) => `n${i}.example.com`)
    const build = (i: number) => signed(60 + (i % 2), i % 3 === 0 ? 'twin' : 'signing')
    for (const [i, name] of names.entries()) place.manifest(name, build(i))
    await place.settle()
    for (const [i, name] of names.entries())
      if (i % 5 === 0) place.manifest(name, { ...build(i), timeout: { time: 60 + (i % 2) } })
    const changed = { TWIN: 'second-twin-key' }
    place.env = { ...first, ...changed }
    const known = (await place.json('plan'))['writes'] as { domains: string[]; forms: JsonObject }[]
    const before = await countWrites()
    expect((await pass(changed)).applied.code).toBe(0)
    expect(savedPlan()).toMatchObject({ summary: { conditional: 24 } })
    const sent = (await fetchWrites(emulator)).slice(before)
    const name = (domains: string[], items: string[]) => `${domains.join()} ${items.join()}`
    expect(sent.map(({ domains, items }) => name(domains, items)).toSorted()).toEqual(
      known.map(({ domains, forms }) => name(domains, Object.keys(forms))).toSorted(),
    )
  })

  it('shows the others, and the secrets in one line', async () => {
    await enter().manifest(a, signed()).manifest(b, signed(60, 'twin')).settle()
    place.manifest(c, { timeout: { time: 60 } })
    const { planned } = await pass()
    const line = '2 secrets are compared at the apply'
    expect(planned.out).toBe(
      'Plan: 1 to set on 1 domain · 1 write (at least 1) · a few seconds\n' +
        `${line} (-v lists them).\n\n+ timeout   ${c}\n  + time  60\n\nWrites: 1 (-v lists them)\n`,
    )
    const markdown = place.read('plan.md')
    expect(markdown).toContain('Plan: 1 to set on 1 domain · 1 write (at least 1)')
    expect(markdown).toContain(`\n\n${line}.\n`)
    expect(markdown).not.toContain('visit_timestamp')
    place.env = {}
    const { out } = await place.cli('plan', '-v', '--report', 'plan.html')
    const page = place.read('plan.html')
    expect(page).toContain(`No changes but for ${line.replace('secrets', 'secrets that')}.`)
    expect(page).toContain(line)
    expect(out).toContain('Compared at the apply')
    expect(out).toContain(`~ visit_timestamp   ${a}`)
    expect(savedPlan()).toMatchObject({
      changes: [{ reason: 'secret-unknown' }, { reason: 'secret-unknown' }, { reason: 'differs' }],
    })
  })
})

describe('an apply', () => {
  /** Enters a workspace whose secret comes from a command, which prints what a file has. */
  const enterCommand = async () => {
    enterPlace(new Place(emulator.url, 'secrets: {signing: {command: [cat, signing]}}\n'))
    place.write('signing', 'first-signing-key\n')
    await place.manifest(a, signed()).manifest(b, signed()).settle()
    const asked: string[] = []
    place.ask = async (text) => {
      asked.push(flat(text))
      return true
    }
    return asked
  }

  it('asks what it does for certain, and prints what differs', async () => {
    const asked = await enterCommand()
    const same = await place.cli('apply')
    expect([same.err, same.out]).toEqual([
      expect.stringContaining('All 2 secrets are as recorded.'),
      expect.stringContaining('Applied; 1 write unchanged, not sent.'),
    ])
    place.write('signing', 'second-signing-key\n').manifest(c, { timeout: { time: 60 } })
    const other = await place.cli('apply', '--report', 'apply.md', '--report', 'apply.html')
    expect(flat(other.err)).toContain('2 of 2 compared secrets differ: visit_timestamp of a.')
    expect(asked).toEqual([
      ' Compare 2 secrets, and send what differs?',
      ' Apply these changes with 1 write, and compare 2 secrets?',
    ])
    // The reports have what was sent.
    const report = place.read('apply.md')
    expect(report).toContain('Plan: 1 to set, 2 to change on 3 domains · 2 writes')
    expect(report).not.toContain('compared at the apply')
    expect(place.read('apply.html')).not.toContain('compared at the apply')
  })

  it('of a repair counts only what differs, too', async () => {
    await enterCommand()
    guard(`{protect: ["${a}"]}`)
    place.manifest(c, { timeout: { time: 60 } })
    const repair = () => place.cli('drift', '--repair', '--include-pending', '--yes')
    const before = await countWrites()
    expect([(await repair()).code, await countWrites()]).toEqual([0, before + 1])
    place.write('signing', 'second-signing-key\n')
    const { code, err } = await repair()
    expect([code, flat(err)]).toEqual([1, expect.stringContaining(`protect: ${a} is protected`)])
    expect(await countWrites()).toBe(before + 1)
  })

  it('that is quiet prints no empty summary', async () => {
    await enterCommand()
    const { code, out } = await place.cli('apply', '--yes', '--quiet')
    expect([code, flat(out)]).toEqual([0, expect.stringContaining('No changes but for 2 secrets')])
  })
})

describe('a rollout', () => {
  it('counts the changed domains in its waves, once the secrets are compared', async () => {
    enter('rollout: {waves: [1, 100%], pause: 10m}\n')
    place.time = { now: Date.UTC(2026, 10, 20, 12) }
    await place.manifest(a, signed()).manifest(b, signed()).settle()
    for (const name of [c, d]) place.manifest(name, { timeout: { time: 60 } })
    // The wave of one domain has a secret that is as recorded.
    const before = await countWrites()
    const { planned, applied } = await pass()
    expect([planned.code, applied.code]).toEqual([2, 0])
    const sent = (await fetchWrites(emulator)).slice(before)
    expect(sent.map(({ domains }) => domains.length)).toEqual([1, 1])
    // Without waves the writes of the plan are sent at once.
    for (const name of [c, d]) place.manifest(name, { timeout: { time: 70 } })
    place.env = {}
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    place.env = { ...first }
    const { now } = place.time
    const { code, out } = await place.cli('apply', 'plan.json', '--no-waves')
    expect([code, flat(out), place.time.now]).toEqual([
      0,
      expect.stringContaining('Applied; writes: 2 confirmed; 2 writes unchanged, not sent.'),
      now,
    ])
  })

  it('that is open conflicts only with what is sent', async () => {
    enter('rollout: {waves: [1, 100%], pause: 10m}\n')
    place.time = { now: Date.UTC(2026, 10, 20, 12) }
    for (const name of [a, b]) place.manifest(name, signed())
    await place.settle()
    for (const name of [a, b]) place.manifest(name, { ...signed(), timeout: { time: 60 } })
    const stop = new AbortController()
    place.signal = stop.signal
    place.time.onSleep = async (_ms, name) => {
      if (name === 'rollout') stop.abort()
    }
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    delete place.time.onSleep
    place.signal = new AbortController().signal
    // The rollout has other manifests, whose secrets are conditional.
    const [{ waves } = { waves: [] }] = place.loadRollouts()
    const left = waves[1]?.domains[0] ?? ''
    place.manifest(left, signed()).manifest(c, { timeout: { time: 60 } })
    const { planned, applied } = await pass()
    expect(flat(planned.err)).toContain(
      'apply may refuse this plan, if secrets differ: some of its domains are in rollout',
    )
    expect([applied.code, place.loadRollouts()]).toMatchObject([0, [{ state: 'open' }]])
    place.manifest(c, { timeout: { time: 61 } })
    const before = await countWrites()
    const again = await pass({ SIGNING: 'second-signing-key' })
    expect([again.applied.code, JSON.parse(again.applied.out)]).toMatchObject([
      1,
      { code: 'rollout-open' },
    ])
    expect(await countWrites()).toBe(before)
  })
})
