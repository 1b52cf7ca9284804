// @module-tag often
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseJson } from '../../src/core/model/json.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { parseCalls } from '../../src/state/format/calls.ts'
import { createSerialQueue } from '../../src/state/store/serial-queue.ts'
import { TestSchema } from '../state/test-schema.ts'
import { fetchCalls, fetchConfigs, Place, setFaults, token } from './cli.ts'
import { emulator, enterPlace, place, setStage, time } from './stage.ts'

const [www, api] = ['www.example.com', 'api.example.com']
const callsPerMinute = 30
setStage({ callsPerMinute, now: () => time.now }, time)

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
  enterPlace(createRepository('default'))
})
afterEach(() => schema.remove())

/** Creates the workspace of a repository, whose state is in the database. */
function createRepository(id: string): Place {
  const other = new Place(emulator.url, `id: ${id}\n`, {
    state: `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`,
    limits: `{callsPerMinute: ${callsPerMinute}, domainsPerWrite: 1}`,
  })
  // An address may name no application.
  const { url } = schema.configure((address) => address.searchParams.delete('application_name'))
  other.env = { EDGEWISE_TOKEN: token, DATABASE_URL: url }
  return other
}

/** Lets a minute pass, also for the calls in the database. */
async function passMinute(): Promise<void> {
  time.now += 60_000
  await schema.query(
    `update ${schema.name}.calls
     set ended = array(select each - interval '1 minute' from unnest(ended) as each)`,
  )
}

/** Lets locks beat: time passes in waits, up to the next heartbeat, and on after it was sent. */
function letLocksBeat(): void {
  const beats = new Map<() => void, number>()
  let isSent: () => void = () => undefined
  const waitForBeat = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      isSent()
      if (signal?.aborted === true) return resolve()
      beats.set(resolve, time.now + ms)
      signal?.addEventListener('abort', () => {
        if (beats.delete(resolve)) resolve()
        isSent()
      })
    })
  const sendUntil = async (end: number) => {
    for (;;) {
      const [due] = [...beats].filter(([, at]) => at <= end)
      if (due === undefined) break
      const [wake, at] = due
      beats.delete(wake)
      time.now = Math.max(time.now, at)
      const sent = new Promise<void>((resolve) => (isSent = resolve))
      wake()
      await sent
    }
    time.now = Math.max(time.now, end)
  }
  const queue = createSerialQueue()
  time.sleep = (ms, signal, name) => {
    if (name === 'lock-beat') return waitForBeat(ms, signal)
    const end = time.now + ms
    return queue(() => sendUntil(end))
  }
}

/** Runs a command that succeeds, and returns what it prints. */
async function run(...args: string[]): Promise<string> {
  const { code, out, err } = await place.cli(...args)
  expect([args, code, err]).toEqual([args, 0, err])
  return out
}

describe('with state in PostgreSQL', () => {
  it('views show with SQL what applies did to a domain', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    await place.manifest(www, { timeout: { time: 61 } }).settle()
    const rows = await schema.query(
      `select workspace, write, item, before, candidates, outcome, ended_at >= started_at as ended
       from ${schema.name}.intents join ${schema.name}.applies using (workspace, address, apply)
       where domain = $1 order by started_at`,
      [www],
    )
    const [old, middle, last] = [null, [{ time: '60' }], [{ time: '61' }]]
    const apply = { workspace: 'default', write: 1, item: 'timeout', outcome: 'complete' }
    expect(rows).toEqual([
      { ...apply, before: old, candidates: middle, ended: true },
      { ...apply, before: middle, candidates: [...(middle ?? []), ...(last ?? [])], ended: true },
    ])
    const items = await schema.query(
      `select domain, item, status, candidates from ${schema.name}.items`,
    )
    expect(items).toEqual([{ domain: www, item: 'timeout', status: 'confirmed', candidates: last }])
  })

  it('an apply is by the role of the database', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const rows = await schema.query(
      `select text, session_user as role from ${schema.name}.files
       where path like '%/chain-0/1.json'`,
    )
    const by = { name: `database:${String(rows[0]?.['role'])}`, knownBy: 'database' }
    expect(parseJson(String(rows[0]?.['text']))).toMatchObject({ kind: 'apply', by })
  })

  it('plan, apply, state, drift and rollback do as with any other', async () => {
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 10 } })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
    await run('apply', '--yes')
    await run('plan', '--detailed-exitcode')
    const calls = (await fetchCalls(emulator)).length
    await run('apply', '--yes')
    expect(await fetchCalls(emulator)).toHaveLength(calls)
    await passMinute()
    place.manifest(www, { timeout: { time: 61 } })
    await run('apply', '--yes')
    expect(await place.json('state', 'list')).toMatchObject({
      domains: [{ domain: api }, { domain: www }],
    })
    expect(await place.json('state', 'history')).toMatchObject({
      applies: [{ outcome: 'complete' }, { outcome: 'complete' }],
    })
    await run('drift')
    expect(await run('state', 'unlock')).toBe('There is no lock.\n')
    await run('rollback', '--yes')
    expect((await fetchConfigs(emulator))[www]).toEqual({ timeout: { time: '60' } })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
  })

  it('calls that count go along to another store', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const { length } = await fetchCalls(emulator)
    await run('state', 'migrate', '--to', 'dir:moved', '--yes')
    const [file = ''] = globSync('moved/budget/*/*.json', { cwd: place.root })
    const { calls } = parseCalls(parseJson(place.read(file)))
    expect(calls.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(length)
  })

  it('an apply whose answer was lost leaves in-doubt items for the next one', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    expect(await place.json('state', 'list')).toMatchObject({ domains: [{ inDoubt: 1 }] })
    await run('apply', '--yes')
    expect(await place.json('state', 'list')).toMatchObject({ domains: [{ inDoubt: 0 }] })
  })

  it('an apply that loses its lock midway sends nothing more', async () => {
    const count = 25
    for (let i = 0; i < count; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 60 } })
    const unlocked: Promise<unknown>[] = []
    const send = createNetworkTransport()
    // Calls that have begun by then are sent after it.
    place.transport = async (request) => {
      await Promise.all(unlocked)
      return send(request)
    }
    place.onStderr = (text) => {
      if (text.includes('confirmed') && unlocked.length === 0)
        unlocked.push(place.cli('state', 'unlock', '--force', '--yes'))
    }
    const { code, err } = await place.cli('apply', '--yes')
    expect(await Promise.all(unlocked)).toMatchObject([{ code: 0 }])
    expect([code, err]).toEqual([3, expect.stringContaining('unlock')])
    expect((await fetchCalls(emulator)).length).toBeLessThan(count)
    place.onStderr = null
    place.transport = undefined
    await passMinute()
    place.otherProcessesDead = true
    await run('apply', '--yes')
    await run('plan', '--detailed-exitcode')
  })
})

describe('two applies of one workspace', () => {
  const statuses = async () =>
    (await place.json('state', 'history'))['applies'] as { outcome: string }[]

  /** Runs a command while the first call of another one is under way; returns both. */
  async function runMeanwhile(first: string[], second: string[]) {
    const send = createNetworkTransport()
    const others: ReturnType<Place['cli']>[] = []
    place.transport = async (request) => {
      if (others.length === 0) {
        place.transport = undefined
        others.push(place.cli(...second))
        await Promise.all(others)
      }
      return send(request)
    }
    const one = await place.cli(...first)
    const [other] = await Promise.all(others)
    if (other === undefined) throw new Error('expected a call')
    return { one, other }
  }

  beforeEach(() => {
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 10 } })
  })

  it('run at once if their domains are others, and neither is taken for dead', async () => {
    const { one, other } = await runMeanwhile(
      ['apply', '--target', www, '--yes'],
      ['apply', '--target', api, '--yes'],
    )
    expect([other.code, other.err]).toEqual([0, expect.not.stringContaining('interrupted')])
    expect([one.code, one.err]).toEqual([0, one.err])
    expect(await fetchConfigs(emulator)).toEqual({
      [www]: { timeout: { time: '60' } },
      [api]: { timeout: { time: '10' } },
    })
    expect(await statuses()).toMatchObject([{ outcome: 'complete' }, { outcome: 'complete' }])
    await run('plan', '--detailed-exitcode')
    expect(await schema.query(`select from ${schema.name}.locks`)).toEqual([])
  })

  it.each([
    ['of the same domain', ['apply', '--target', '*.example.com', '--yes']],
    ['of all domains', ['apply', '--yes']],
    ['that forgets the domain', ['state', 'forget', www, '--yes']],
    ['that moves another one', ['state', 'move', api, '--to', 'other', '--yes']],
    ['that prunes', ['state', 'prune', '--keep', '1d', '--yes']],
  ])('take turns: one %s', async (_what, second) => {
    await run('apply', '--target', api, '--yes')
    time.now += 60_000
    const { one, other } = await runMeanwhile(['apply', '--target', www, '--yes'], second)
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringContaining('the state is locked by') as string,
    })
    expect([one.code, one.err]).toEqual([0, one.err])
  })

  it('ends with the exit code of its own domains, whatever another one does', async () => {
    place.manifest(api, { timeout: { time: 10 } })
    await setFaults(emulator, { kind: 'unauthorized-from', domain: api, on: [1] })
    const alone = await place.cli('apply', '--target', api, '--yes')
    time.now += 60_000
    const { one, other } = await runMeanwhile(
      ['apply', '--target', www, '--yes'],
      ['apply', '--target', api, '--yes'],
    )
    await setFaults(emulator)
    expect([one.code, one.err]).toEqual([0, one.err])
    expect([other.code, other.err]).toEqual([alone.code, other.err])
  })

  it('have locks of which one is removed by its domain', async () => {
    const begun: Promise<void>[] = []
    const begin = (domain: string) => {
      const sent = new Promise<void>((resolve) => {
        place.transport = () => {
          resolve()
          return new Promise(() => undefined)
        }
      })
      void place.cli('apply', '--target', domain, '--yes')
      begun.push(sent)
      return sent
    }
    await begin(www)
    await begin(api)
    place.transport = undefined
    const { code, out, err } = await place.cli('state', 'unlock', '--force', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('2 processes have locks')])
    expect(out).toMatch(/apply\): www\.example\.com\.\n\nLocked by .*: api\.example\.com\.\n/)
    const other = await place.cli('state', 'unlock', 'other.example.com', '--force', '--yes')
    expect(other.out).toBe('There is no lock.\n')
    expect((await place.cli('state', 'unlock', 'API.example.com', '--force', '--yes')).code).toBe(0)
    const rows = await schema.query(
      `select domains from ${schema.name}.locks where text like '%who%'`,
    )
    expect(rows.filter(({ domains }) => (domains as string[])[0] === www)).toHaveLength(1)
    expect((await place.cli('state', 'unlock', '--force')).out).toMatch(/^Locked by \S+ \(.*\)\.\n/)
  })

  it('a domain that only state has is locked, too', async () => {
    await run('apply', '--yes')
    time.now += 60_000
    rmSync(join(place.root, 'domains', `${api}.yaml`))
    place.manifest(www, { timeout: { time: 61 } })
    const { other } = await runMeanwhile(
      ['apply', '--target', '*.example.com', '--yes'],
      ['state', 'forget', api, '--yes'],
    )
    expect(other).toMatchObject({ code: 1 })
    expect((await statuses())[0]).toMatchObject({ outcome: 'complete' })
  })

  it('an apply of a part of a dead one ends all of it', async () => {
    const sent = new Promise<void>((resolve) => {
      place.transport = () => {
        resolve()
        return new Promise(() => undefined)
      }
    })
    void place.cli('apply', '--yes')
    await sent
    place.transport = undefined
    const locked = await place.cli('apply', '--target', www, '--yes')
    expect(locked).toMatchObject({ code: 1 })
    place.otherProcessesDead = true
    time.now += 60_000
    const { code, err } = await place.cli('apply', '--target', www, '--yes')
    expect([code, err]).toEqual([0, expect.stringContaining('was interrupted')])
    expect(await statuses()).toMatchObject([{ outcome: 'complete' }, { outcome: 'interrupted' }])
    expect(await place.json('state', 'list')).toMatchObject({
      domains: [
        { domain: api, inDoubt: 1 },
        { domain: www, inDoubt: 0 },
      ],
    })
  })
})

describe('a part of a workspace that is known by its history only', () => {
  beforeEach(() => {
    place.manifest(www, { timeout: { time: 60 } }).manifest(api, { timeout: { time: 10 } })
  })
  const findLastApply = async () => {
    const [last] = (await place.json('state', 'history'))['applies'] as { id: string }[]
    return last?.id ?? ''
  }

  it('is rolled back, although neither state nor a manifest has the domain', async () => {
    await run('apply', '--yes')
    time.now += 60_000
    place.manifest(www, { timeout: { time: 61 } })
    await run('apply', '--yes')
    const id = await findLastApply()
    time.now += 60_000
    rmSync(join(place.root, 'domains', `${www}.yaml`))
    await run('state', 'forget', www, '--yes')
    await run('rollback', id, '--target', www, '--yes')
    expect((await fetchConfigs(emulator))[www]).toEqual({ timeout: { time: '60' } })
  })

  it('is released after an apply that died, although only intents name the domain', async () => {
    const sent = new Promise<void>((resolve) => {
      place.transport = () => {
        resolve()
        return new Promise(() => undefined)
      }
    })
    void place.cli('apply', '--target', www, '--yes')
    await sent
    place.transport = undefined
    place.otherProcessesDead = true
    time.now += 120_000
    rmSync(join(place.root, 'domains', `${www}.yaml`))
    const before = await place.json('state', 'list')
    expect(before).toMatchObject({ domains: [{ domain: www, inDoubt: 1 }] })
    const { code, err } = await place.cli('apply', '--target', www, '--yes')
    expect([code, err]).toEqual([0, err])
  })
})

describe('two repositories with one account and one database', () => {
  const count = 40

  beforeEach(letLocksBeat)
  afterEach(() => {
    delete time.sleep
  })

  it('share its call budget one after another, and the service refuses no call', async () => {
    const places = ['mine', 'theirs'].map(createRepository)
    const [mine] = places
    for (const each of places) {
      each.time = time
      for (let i = 0; i < count; i++)
        each.manifest(`d${i}.${each === mine ? 'mine' : 'theirs'}.example.com`, {
          timeout: { time: 60 },
        })
    }
    for (const each of places) {
      const { code, err } = await each.cli('apply', '--yes')
      expect([code, err.slice(-1500)]).toEqual([0, err.slice(-1500)])
    }
    const statuses = (await fetchCalls(emulator)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(statuses.length).toBeGreaterThanOrEqual(2 * count)
    for (const each of places) {
      expect((await each.cli('plan', '--detailed-exitcode')).code).toBe(0)
      each.remove()
    }
  })

  it('own their domains: neither writes those of the other', async () => {
    const other = createRepository('theirs')
    other.time = time
    for (const each of [place, other]) each.manifest(www, { timeout: { time: 60 } })
    await run('apply', '--yes')
    const { code, err } = await other.cli('apply', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('belongs to the workspace "default"')])
    other.remove()
  })
})
