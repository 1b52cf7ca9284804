// @module-tag often
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { passPlan, rotateSecret, secretSources, signed } from '../stories/secrets-through-ci.ts'
import { fetchConfig, fetchWrites, Place, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const [www, api] = ['www.example.com', 'api.example.com']
setStage()

const given = (signing: string, more = {}) =>
  void (place.env = { EDGEWISE_TOKEN: token, SIGNING: signing, ...more })
/** A job of a pull request: no token and no secret. */
const withhold = () => void (place.env = {})
const key = async (domain = www) => (await fetchConfig(emulator, domain))['visit_timestamp']
const countWrites = async () => (await fetchWrites(emulator)).length
const file = () => join(place.root, 'plan.json')
const savedPlan = () => JSON.parse(readFileSync(file(), 'utf8')) as JsonObject
const parseEvents = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)

beforeEach(() => {
  enterPlace(new Place(emulator.url, secretSources))
  given('first-signing-key')
})

/** Plans without secrets, and applies that plan with the secrets of `env`. */
const passThroughCi = (env: () => void) => passPlan(place, place, withhold, env)

describe('an apply without a secret or the token', () => {
  const apply = async () => {
    const { code, err } = await place.cli('apply', '--yes')
    return [code, err.replace(/\s+/g, ' ')]
  }
  const locate = (text: string) => {
    const lines = place.read('edgewise.yaml').split('\n')
    const line = lines.findIndex((each) => each.includes(text))
    return `edgewise.yaml:${line + 1}:${(lines[line] ?? '').indexOf(text) + 1}`
  }

  it('names the variable of the secret, and its place', async () => {
    place.manifest(www, signed())
    place.env = { EDGEWISE_TOKEN: token }
    const named = `the environment variable SIGNING is not set (${locate('SIGNING')})`
    expect(await apply()).toEqual([1, expect.stringContaining(`error: secret signing: ${named}`)])
    expect((await place.json('apply', '--yes'))['message']).toContain(named)
    given('')
    expect((await apply())[1]).toContain('the environment variable SIGNING is empty')
    expect(await countWrites()).toBe(0)
  })

  it('names the variable of the token, and its place', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    withhold()
    const named = 'the environment variable EDGEWISE_TOKEN is not set'
    const written = locate('${env:EDGEWISE_TOKEN}')
    expect(await apply()).toEqual([1, expect.stringContaining(`: ${named} (${written})`)])
    const stats = await place.json('stats')
    expect(stats['message']).toContain(`no token for ${emulator.url}: ${named} (${written})`)
    place.env = { EDGEWISE_TOKEN: '' }
    expect((await apply())[1]).toContain('the environment variable EDGEWISE_TOKEN is empty')
    const home = place.read('edgewise.yaml')
    place.write('edgewise.yaml', home.replace('${env:EDGEWISE_TOKEN}', '"${env:A}${env:B}"'))
    const both = 'the environment variables A and B are not set'
    expect((await apply())[1]).toContain(`: ${both} (${locate('"${env:A}')})`)
    place.write('edgewise.yaml', home.replace('${env:EDGEWISE_TOKEN}', '""'))
    expect((await apply())[1]).toContain(`: service.token is empty (${locate('""')})`)
    place.write('edgewise.yaml', home.replace(/ *token: .*\n/, ''))
    place.env = {}
    expect((await apply())[1]).toContain(`: ${named} Set it`)
  })
})

describe('a plan made without secrets', () => {
  it('is applied with them: an unrecorded item is simply set', async () => {
    place.manifest(www, signed())
    const { planned, applied } = await passThroughCi(() => given('first-signing-key'))
    expect([planned.code, applied.code]).toEqual([2, 0])
    expect(savedPlan()).toMatchObject({
      changes: [{ reason: 'differs', after: { key: { $secret: 'unresolved:signing' } } }],
      summary: { set: 1, conditional: 0 },
    })
    expect(await key()).toMatchObject({ key: 'first-signing-key' })
    expect((await place.json('plan'))['changes']).toEqual([])
  })

  it('sends a rotated secret, which is a conditional change with its write', async () => {
    await rotateSecret(place, place, emulator)
  })

  it('does not send an equal secret, and succeeds', async () => {
    await place.manifest(www, signed()).settle()
    const before = await countWrites()
    const { applied } = await passThroughCi(() => given('first-signing-key'))
    expect([applied.code, await countWrites()]).toEqual([0, before])
    expect(parseEvents(applied.out)).toMatchObject([
      { type: 'apply.started', writes: 1 },
      { type: 'write.not-sent', id: 1, reason: 'unchanged' },
      { type: 'apply.finished', confirmed: 0, notSent: 0, unchanged: 1, stopped: null },
    ])
    const again = await place.cli('apply', 'plan.json')
    expect([again.code, again.err, again.out.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('unchanged, not sent'),
      expect.stringContaining('Applied; 1 write unchanged, not sent.'),
    ])
  })

  it('sends nothing to a domain of a write whose value is as recorded', async () => {
    await place.manifest(www, signed()).manifest(api, signed()).settle()
    given('second-signing-key')
    expect((await place.cli('apply', '--yes', '--target', www)).code).toBe(0)
    const before = await countWrites()
    const { applied } = await passThroughCi(() => given('second-signing-key'))
    expect([applied.code, savedPlan()]).toMatchObject([0, { summary: { conditional: 2 } }])
    const sent = (await fetchWrites(emulator)).slice(before)
    expect(sent.map(({ domains }) => domains)).toEqual([[api]])
    expect([await key(), await key(api)]).toMatchObject([
      { key: 'second-signing-key' },
      { key: 'second-signing-key' },
    ])
  })

  it('keeps two names of one value apart', async () => {
    given('first-signing-key', { TWIN: 'first-signing-key' })
    await place.manifest(www, signed()).manifest(api, signed(60, 'twin')).settle()
    place.manifest(www, { ...signed(), timeout: { time: 60 } })
    const { planned, applied } = await passThroughCi(() =>
      given('first-signing-key', { TWIN: 'first-signing-key' }),
    )
    expect([planned.code, applied.code]).toEqual([2, 0])
    expect(savedPlan()).toMatchObject({ summary: { set: 1, change: 2, conditional: 2 } })
    const rotated = await passThroughCi(() =>
      given('first-signing-key', { TWIN: 'second-signing-key' }),
    )
    expect([rotated.planned.code, rotated.applied.code]).toEqual([0, 0])
    expect([await key(), await key(api)]).toMatchObject([
      { key: 'first-signing-key' },
      { key: 'second-signing-key' },
    ])
  })

  it('sends a rotated secret with another change of its item', async () => {
    const heads = (other: string) => ({
      add_response_head: {
        list: [
          { name: 'Authorization', value: 'Bearer ${secret:signing}' },
          { name: 'X-Other', value: other },
        ],
      },
    })
    await place.manifest(www, heads('a')).settle()
    place.manifest(www, heads('b'))
    const { planned, applied } = await passThroughCi(() => given('second-signing-key'))
    expect([planned.code, applied.code]).toEqual([2, 0])
    expect(await fetchConfig(emulator, www)).toMatchObject({
      add_response_head: { list: [{ value: 'Bearer second-signing-key' }, { value: 'b' }] },
    })
  })

  it('compares a renamed secret by its value', async () => {
    await place.manifest(www, signed()).settle()
    place.manifest(www, signed(60, 'twin'))
    const before = await countWrites()
    const { planned, applied } = await passThroughCi(() => given('', { TWIN: 'first-signing-key' }))
    expect([planned.code, applied.code, await countWrites()]).toEqual([0, 0, before])
  })

  it('is refused before anything is sent if the value is still missing', async () => {
    await place.manifest(www, signed()).settle()
    const before = await countWrites()
    const { applied } = await passThroughCi(() => given(''))
    expect([applied.code, await countWrites()]).toEqual([1, before])
    expect(JSON.parse(applied.out)).toMatchObject({ code: 'access' })
  })

  it('is refused before anything is sent if a value of a later wave is not valid', async () => {
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}rollout: {waves: [1, 100%]}\n`)
    place.manifest(api, { timeout: { time: 60 } }).manifest(www, {
      add_back_source_head: [{ head_name: 'Authorization', head_value: '${secret:signing}' }],
    })
    const { applied } = await passThroughCi(() => given('a line\nand another'))
    expect([applied.code, JSON.parse(applied.out)]).toMatchObject([1, { code: 'invalid' }])
    expect(await countWrites()).toBe(0)
  })

  it('counts in guards', async () => {
    await place.manifest(www, signed()).settle()
    given('first-signing-key')
    const home = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${home}guards: {protect: ["${www}"]}\n`)
    const { applied } = await passThroughCi(() => given('second-signing-key'))
    expect([applied.code, JSON.parse(applied.out)]).toMatchObject([1, { code: 'guarded' }])
  })

  it('is stale if a reference or the recorded state changed', async () => {
    place.manifest(www, signed())
    withhold()
    await place.cli('plan', '--out', 'plan.json')
    given('first-signing-key', { TWIN: 'first-signing-key' })
    place.manifest(www, signed(60, 'twin'))
    const renamed = await place.cli('apply', 'plan.json')
    expect([renamed.code, renamed.err]).toEqual([
      1,
      expect.stringContaining(`the manifests of ${www} changed`),
    ])
  })
})

describe('a plan made with secrets', () => {
  beforeEach(async () => {
    await place.manifest(www, signed()).manifest(api, signed()).settle()
    place.manifest(www, { ...signed(), timeout: { time: 60 } })
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    expect(savedPlan()).toMatchObject({ summary: { conditional: 0, writes: 1 } })
  })

  it('is applied without those that it does not write', async () => {
    given('')
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '60' } })
  })

  it('is stale after a rotation, with the reason', async () => {
    given('second-signing-key')
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(`the value of a secret in visit_timestamp of ${www} changed`),
    ])
  })
})

it.each(['\n', '\r\n'])('a secret from a variable loses its final line end %j', async (end) => {
  given(`first-signing-key${end}`)
  place.manifest(www, signed())
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  expect(await key()).toMatchObject({ key: 'first-signing-key' })
})

describe('a secret from a command', () => {
  const give = (value: string, name = 'signing') => {
    place.write(`${name}.sh`, `#!/bin/sh\necho run >> runs.log\nprintf '%s\\n' '${value}'\n`)
    chmodSync(join(place.root, `${name}.sh`), 0o755)
    rmSync(join(place.root, 'runs.log'), { force: true })
  }
  const hasRun = () => existsSync(join(place.root, 'runs.log'))
  const enter = (more = '') => {
    const sources = 'signing: {command: [./signing.sh]}, twin: {command: [./twin.sh]}'
    enterPlace(new Place(emulator.url, `secrets: {${sources}}\n${more}`))
    give('first-signing-key')
    give('steady-signing-key', 'twin')
  }

  it('is a conditional change of every plan; its command runs after consent', async () => {
    enter()
    await place.manifest(www, signed()).settle()
    give('first-signing-key')
    expect(await place.json('plan')).toMatchObject({ summary: { conditional: 1 } })
    expect((await place.json('drift'))['items']).toMatchObject([
      { kinds: [], notVerifiable: ['/key'] },
    ])
    const before = await countWrites()
    // Without consent nothing runs.
    expect([(await place.cli('apply')).code, hasRun()]).toEqual([1, false])
    expect([(await place.cli('apply', '--yes')).code, hasRun()]).toEqual([0, true])
    expect(await countWrites()).toBe(before)
    give('second-signing-key')
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('The secret signing differs from its recorded value'),
    ])
    expect(await key()).toMatchObject({ key: 'second-signing-key' })
  })

  it('begins no rollout if nothing differs', async () => {
    enter('rollout: {waves: [1, 100%], pause: 10m}\n')
    place.time = { now: Date.UTC(2026, 10, 20, 12) }
    await place.manifest(www, signed()).manifest(api, signed()).settle()
    const { now } = place.time
    expect(await place.json('plan')).toMatchObject({ writes: [{ wave: 1 }, { wave: 2 }] })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect([place.loadRollouts(), place.time.now]).toEqual([[], now])
  })

  it('lets an interrupted rollout be resumed from its own plan file', async () => {
    const img = 'img.example.com'
    // The first wave has nothing to send.
    enter(`rollout: {waves: [1, 2, 100%], first: [${img}], pause: 10m}\n`)
    place.time = { now: Date.UTC(2026, 10, 20, 12) }
    place.manifest(www, signed()).manifest(api, signed()).manifest(img, signed(60, 'twin'))
    await place.settle()
    give('second-signing-key')
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    expect(savedPlan()).toMatchObject({ summary: { conditional: 3 }, writes: [{}, {}, {}] })
    const before = await countWrites()
    const stop = new AbortController()
    place.signal = stop.signal
    place.time.onSleep = async (_ms, name) => {
      if (name === 'rollout') stop.abort()
    }
    expect((await place.cli('apply', 'plan.json')).code).toBe(3)
    expect([await countWrites(), place.loadRollouts()]).toMatchObject([
      before + 1,
      [{ waves: [{ applied: { from: expect.any(String) as string } }, { applied: null }] }],
    ])
    delete place.time.onSleep
    place.signal = new AbortController().signal
    const resumed = await place.cli('apply', 'plan.json')
    expect([resumed.code, resumed.err]).toMatchObject([0, expect.not.stringContaining('stale')])
    expect([await key(), await key(api), await key(img)]).toMatchObject([
      { key: 'second-signing-key' },
      { key: 'second-signing-key' },
      { key: 'steady-signing-key' },
    ])
    expect([await countWrites(), place.loadRollouts()]).toEqual([before + 2, []])
  })
})
