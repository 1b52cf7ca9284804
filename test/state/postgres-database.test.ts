// @module-tag often
// @module-tag nightly
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Sql } from '../../src/state/postgres/database.ts'
import { createPool } from '../../src/state/postgres/create-pool.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { openPostgresLedger } from '../../src/state/postgres/postgres-calls.ts'
import { createPostgresFiles } from '../../src/state/postgres/postgres-files.ts'
import { PostgresLocks } from '../../src/state/postgres/postgres-locks.ts'
import { accountScope } from '../../src/state/locks/locks.ts'
import { acquireAccount, buildContender, buildHolder, machine } from './contender.ts'
import { FakeClock } from '../service/fake-clock.ts'
import { PostgresProxy } from './postgres-proxy.ts'
import { context, findServer, TestSchema } from './test-schema.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

/** Opens the database like a process of its own. */
const open = (change?: (url: URL) => void) => openDatabase(schema.configure(change), context)

/** Opens files and a lock like a process of its own. */
function openState(change?: (url: URL) => void) {
  const database = open(change)
  const locks = new PostgresLocks(database, 'lock/a')
  return { database, locks, files: createPostgresFiles(database, locks) }
}

/** Changes the user of an address. */
const as = (role: { name: string; password: string }) => (url: URL) =>
  void Object.assign(url, { username: role.name, password: role.password })

/** Opens them with an option of the session. */
const openWith = (option: string) =>
  openState((url) => url.searchParams.set('options', `-c ${option}`))

async function startProxy(): Promise<PostgresProxy> {
  const proxy = await PostgresProxy.start(findServer())
  onTestFinished(() => proxy.end())
  return proxy
}

/** A table with a number that must change only once. */
async function createCounter() {
  const database = open()
  await database.transact((sql) => sql(`create table ${schema.name}.counter (n int)`))
  await schema.query(`insert into ${schema.name}.counter values (0)`)
  return {
    database,
    count: (sql: Sql) => sql(`update ${schema.name}.counter set n = n + 1 returning n`),
    read: async () => (await schema.query(`select n from ${schema.name}.counter`))[0]?.['n'],
  }
}

/** Waits for the failure of some work; its texts must not have a password. */
async function findFailure(work: Promise<unknown>): Promise<EdgewiseError> {
  const error = await work.then(
    () => new Error('expected a failure'),
    (failure: unknown) => failure,
  )
  if (!(error instanceof EdgewiseError)) throw error
  const texts = [error.message, error.hint, error.stack, String(error.cause), error.code].join('\n')
  for (const secret of ['pass-of-the-role', new URL(findServer()).password, 'wrong-pass'])
    expect(texts.split(/\W*postgres:/).join('\n')).not.toContain(`:${secret}`)
  expect(texts).not.toMatch(/pass-of-the-role|wrong-pass/)
  return error
}

const file = (path: string, text: string) => [new Map([[path, text]])]

describe('a transaction whose connection is cut', () => {
  it('while it was idle runs once', async () => {
    const { database, count, read } = await createCounter()
    expect(await schema.cut()).toBe(1)
    await database.transact(count)
    expect(await read()).toBe(1)
  })

  it.each(['before the first statement', 'between statements', 'before the commit'])(
    '%s runs again, and takes effect once',
    async (when) => {
      const { database, count, read } = await createCounter()
      let attempts = 0
      const result = await database.transact(async (sql) => {
        const isFirst = ++attempts === 1
        if (isFirst && when === 'before the first statement') await schema.cut()
        await sql('select 1')
        if (isFirst && when === 'between statements') await schema.cut()
        const rows = await count(sql)
        if (isFirst && when === 'before the commit') await schema.cut()
        return rows
      })
      expect([attempts, result, await read()]).toEqual([2, [{ n: 1 }], 1])
    },
  )

  it('while it waits for nothing does not end the process', async () => {
    const { database, count, read } = await createCounter()
    let attempts = 0
    await database.transact(async (sql) => {
      await count(sql)
      if (++attempts > 1) return
      await schema.cut()
      // The loss is known before the next statement.
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
    expect([attempts, await read()]).toEqual([2, 1])
  })
})

it('a connection that is lost as soon as it is made does not end the process', async () => {
  const pool = createPool(schema.configure())
  const client = await pool.connect()
  expect(client.emit('error', new Error('cut'))).toBe(true)
  client.release(true)
  await pool.end()
})

it.each(['sslrootcert', 'sslcert', 'sslkey'])('a device as %s is not read', (name) => {
  const url = `postgres://127.0.0.1/x?sslmode=verify-full&${name}=/dev/zero`
  const create = () => createPool({ url, schema: 'edgewise' })
  expect(create).toThrow('/dev/zero: expected a file, got a pipe, socket or device')
})

describe('a commit that is cut off', () => {
  it.each(['cut', 'cut-answer'] as const)('(%s) leaves files written once', async (fate) => {
    const proxy = await startProxy()
    const { files, locks } = openState((url) => proxy.redirect(url))
    await acquireAccount({ locks }, 'held')
    proxy.cutCommit(fate)
    let guarded = 0
    await files.publish(file('w/a', 'text'), '', async (seen) => {
      // The second time, the change may be there already.
      const found = [...(await seen.load('w')).values()]
      expect(found).toEqual(++guarded > 1 && fate === 'cut-answer' ? ['text'] : [])
    })
    expect(guarded).toBe(2)
    expect(await openState().files.load('w')).toEqual(new Map([['w/a', 'text']]))
  })

  it.each(['cut', 'cut-answer'] as const)('(%s) wins the lock for one only', async (fate) => {
    const proxy = await startProxy()
    const [mine, theirs] = [openState((url) => proxy.redirect(url)), openState()]
    await mine.files.load('w')
    proxy.cutCommit(fate)
    const lease = await acquireAccount(mine, 'mine')
    await expect(acquireAccount(theirs, 'theirs')).rejects.toMatchObject({ code: 'locked' })
    expect(await theirs.locks.listHolders(accountScope)).toEqual([buildHolder('mine')])
    expect(await schema.query(`select held from ${schema.name}.locks`)).toEqual([{ held: true }])
    await mine.files.write(file('w/a', 'mine'), '')
    proxy.cutCommit(fate)
    await lease.release()
    expect(await theirs.locks.listHolders(accountScope)).toEqual([])
  })

  it('loses the lock if another process takes it over before the next attempt', async () => {
    const proxy = await startProxy()
    const theirs = openState()
    const clock = { ...context.clock }
    const change = (url: URL) => proxy.redirect(url)
    const database = openDatabase(schema.configure(change), { ...context, clock })
    const locks = new PostgresLocks(database, 'lock/a')
    await locks.listHolders(accountScope)
    clock.sleep = async () => {
      clock.sleep = context.clock.sleep
      await theirs.locks.revoke('mine', { ...machine, isRunning: () => false })
      await acquireAccount(theirs, 'theirs')
    }
    proxy.cutCommit('cut-answer')
    await expect(locks.acquire(accountScope, buildContender('mine'))).rejects.toMatchObject({
      message: expect.stringContaining('locked by theirs@host') as string,
    })
    await theirs.files.write(file('w/a', 'theirs'), '')
  })
})

describe('a transaction that loses against another', () => {
  it('in a deadlock runs again', async () => {
    const quick = (url: URL) => url.searchParams.set('options', '-c deadlock_timeout=10ms')
    await open().transact((sql) => sql(`create table ${schema.name}.counter (id int, n int)`))
    await schema.query(`insert into ${schema.name}.counter values (1, 0), (2, 0)`)
    let [attempts, arrived] = [0, 0]
    let meet: () => void = () => undefined
    const both = new Promise<void>((resolve) => (meet = resolve))
    const count = (order: number[]) => async (sql: Sql) => {
      attempts++
      for (const [i, id] of order.entries()) {
        await sql(`update ${schema.name}.counter set n = n + 1 where id = $1`, [id])
        if (i > 0) continue
        if (++arrived === 2) meet()
        await both
      }
    }
    await Promise.all([open(quick).transact(count([1, 2])), open(quick).transact(count([2, 1]))])
    const rows = await schema.query(`select n from ${schema.name}.counter`)
    expect(attempts).toBeGreaterThan(2)
    expect(rows).toEqual([{ n: 2 }, { n: 2 }])
  })

  it.each(['40001', '55P03', '57P01', '53300', '25P03'])('(%s) runs again', async (code) => {
    const { database, count, read } = await createCounter()
    let attempts = 0
    await database.transact(async (sql) => {
      await count(sql)
      if (++attempts === 1) await sql(`do $$ begin raise 'x' using errcode = '${code}'; end $$`)
    })
    expect([attempts, await read()]).toEqual([2, 1])
  })
})

describe('a failure is explained:', () => {
  const code = 'record-unreachable'

  it('a wrong password', async () => {
    const role = await schema.addRole()
    const { files } = openState(as({ ...role, password: 'wrong-pass' }))
    const error = await findFailure(files.load('w'))
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining('the password') as string,
    })
    expect(error.message).toContain(`schema ${schema.name}`)
  })

  it('a missing database', async () => {
    const { files } = openState((url) => void (url.pathname = '/missing'))
    const error = await findFailure(files.load('w'))
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining('/missing, schema') as string,
      hint: expect.stringContaining('createdb') as string,
    })
  })

  it('a user who may only read can load, and not write or lock', async () => {
    await openState().files.write(file('w/a', 'text'), '')
    const role = await schema.addRole()
    await schema.query(
      `grant usage on schema ${schema.name} to ${role.name};
       grant select on all tables in schema ${schema.name} to ${role.name}`,
    )
    const reader = openState(as(role))
    expect(await reader.files.load('w')).toEqual(new Map([['w/a', 'text']]))
    expect(await reader.locks.listHolders(accountScope)).toEqual([])
    const why = expect.stringContaining('the user may not write there') as string
    for (const work of [
      () => reader.files.write(file('w/a', 'other'), ''),
      () => acquireAccount(reader, 'mine'),
    ])
      expect(await findFailure(work())).toMatchObject({ code, message: why })
    expect(await openState().files.load('w')).toEqual(new Map([['w/a', 'text']]))
  })

  it('a user without any right', async () => {
    const role = await schema.addRole()
    expect(await findFailure(openState(as(role)).files.load('w'))).toMatchObject({
      code,
      message: expect.stringContaining('may not write there') as string,
    })
  })

  it.each([
    ['use an empty schema', (role: string) => `create schema ${schema.name} authorization ${role}`],
    [
      'change rows, and create nothing,',
      (role: string) =>
        `grant usage on schema ${schema.name} to ${role};
         grant select, insert, update, delete on all tables in schema ${schema.name} to ${role}`,
    ],
  ])('a user who may %s can do everything', async (what, grant) => {
    if (what.startsWith('change')) await open().transact(async () => undefined)
    const role = await schema.addRole()
    await schema.query(grant(role.name))
    const { files, locks } = openState(as(role))
    await acquireAccount({ locks }, 'mine')
    await files.publish(file('w/a', 'text'), '', async () => undefined)
    expect(await files.listPaths('w')).toEqual(['w/a'])
  })

  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('a default of synchronous_commit=%s makes changes durable: %s', async (given, used) => {
    const { database } = openWith(`synchronous_commit=${given}`)
    const [row] = await database.transact((sql) => sql('show synchronous_commit'))
    expect(row).toEqual({ synchronous_commit: used })
  })

  it('a server that can only be read', async () => {
    await openState().files.write(file('w/a', 'text'), '')
    const reader = openWith('default_transaction_read_only=on')
    expect(await reader.files.listPaths('w')).toEqual(['w/a'])
    expect(await findFailure(reader.files.write(file('w/b', 'text'), ''))).toMatchObject({
      code,
      message: expect.stringContaining('can only be read') as string,
    })
  })

  it('a statement that takes too long', async () => {
    const { files } = openWith('statement_timeout=300ms')
    await open().transact(async () => undefined)
    await schema.query(`begin; lock table ${schema.name}.files in exclusive mode`)
    expect(await findFailure(files.write(file('w/a', 'text'), ''))).toMatchObject({
      code,
      message: expect.stringContaining('statement timeout') as string,
    })
    await schema.query('rollback')
    await files.write(file('w/a', 'text'), '')
  })

  it('a missing table', async () => {
    await open().transact(async () => undefined)
    await schema.query(`drop table ${schema.name}.files cascade`)
    expect(await findFailure(openState().files.load('w'))).toMatchObject({
      code,
      message: expect.stringContaining('a table is missing') as string,
    })
  })

  it.each(['127.0.0.1', 'localhost'])('a server that %s does not have, later', async (host) => {
    const proxy = await startProxy()
    const clock = new FakeClock()
    const config = schema.configure((url) => {
      proxy.redirect(url)
      url.hostname = host
    })
    proxy.end()
    clock.sleep = async (ms) => {
      clock.slept.push(ms)
      clock.time += ms
    }
    const database = openDatabase(config, { clock, signal: context.signal })
    expect(await findFailure(database.transact(async () => 0))).toMatchObject({
      code,
      message: expect.stringContaining('ECONNREFUSED') as string,
    })
    expect(clock.slept.length).toBeGreaterThan(2)
    expect(clock.slept.reduce((a, b) => a + b)).toBeLessThanOrEqual(30_000)
    const aborted = { clock: new FakeClock(), signal: AbortSignal.abort() }
    await findFailure(openDatabase(config, aborted).transact(async () => 0))
    expect(aborted.clock.slept).toEqual([])
  })
})

describe('the tables', () => {
  it('tables that were restored are refused until the state is accepted', async () => {
    await openState().files.write(file('w/a', 'text'), '')
    await schema.query(
      `set search_path = ${schema.name};
       create table restored (like files including all); insert into restored table files;
       drop table files cascade; alter table restored rename to files;
       reset search_path`,
    )
    const failure = await findFailure(openState().files.load('w'))
    expect(failure).toMatchObject({
      code: 'state-rewound',
      message: expect.stringContaining('were restored') as string,
    })
    for (const work of [
      () => openState().locks.listHolders(accountScope),
      () => openState().files.write([], ''),
    ])
      expect(await findFailure(work())).toMatchObject({ code: 'state-rewound' })
    const [statement = ''] = /update .*;/.exec(failure.hint) ?? []
    await schema.query(statement)
    expect(await openState().files.load('w')).toEqual(new Map([['w/a', 'text']]))
  })

  it('of a newer program are refused, and not changed', async () => {
    await open().transact(async () => undefined)
    await schema.query(`update ${schema.name}.version set version = 99`)
    const work = () => Promise.reject(new Error('expected no work'))
    expect(await findFailure(open().transact(work))).toMatchObject({
      code: 'record-damaged',
      message: expect.stringMatching(/have version 99; expected 1/) as string,
    })
    expect(await schema.query(`select version from ${schema.name}.version`)).toEqual([
      { version: 99 },
    ])
  })

  it('are created once by processes that begin together', async () => {
    const states = Array.from({ length: 6 }, () => openState())
    await Promise.all(states.map(({ files }, i) => files.write(file(`w/${i}`, 'text'), '')))
    expect(await states[0]?.files.listPaths('w')).toHaveLength(6)
    expect(await schema.query(`select count(*)::int as n from ${schema.name}.version`)).toEqual([
      { n: 1 },
    ])
  })

  it('are created after a failure of the first attempt', async () => {
    const proxy = await startProxy()
    const { files } = openState((url) => proxy.redirect(url))
    proxy.cutCommit('cut')
    expect(await files.load('w')).toEqual(new Map())
  })
})

it('uses nothing that outlives a transaction: a pooler may be in between', async () => {
  const proxy = await startProxy()
  const { database, files, locks } = openState((url) => proxy.redirect(url))
  await acquireAccount({ locks }, 'held')
  await files.publish(file('w/a', 'text'), '', async (seen) => {
    await seen.load('w')
  })
  await files.write([new Map([['w/a', null]])], '')
  await files.add('w/b', 'text', '')
  await Promise.all([
    files.listTopFolders(),
    files.loadLocalAndShared('w/b'),
    locks.listHolders(accountScope),
  ])
  const ledger = openPostgresLedger(database, 'budget', () => ({ boot: 'b', now: 0, up: 0 }))
  await ledger.record(() => [{ time: 0, count: 1 }])
  await ledger.reserve(
    () => [{ time: 0, count: 2 }],
    () => true,
    1,
  )
  await ledger.load({ count: 1, inMs: 0 })
  const { messages } = proxy
  const statements = messages.flatMap(({ type, texts }) =>
    type === 'Q' ? texts.slice(0, 1) : type === 'P' ? texts.slice(1, 2) : [],
  )
  expect(statements.length).toBeGreaterThan(20)
  const begins = /(?:^|;)\s*(?:set (?!local )|prepare|listen|declare|discard|reset|create temp)/i
  const calls = /advisory_(?!xact_)lock|set_config\((?!'\w+', '\w+', true\))/i
  const isLasting = (each: string) => begins.test(each) || calls.test(each)
  expect(statements.filter(isLasting)).toEqual([])
  const named = messages.filter(({ type, texts }) => 'PB'.includes(type) && texts[0] !== '')
  expect(named).toEqual([])
  // Each transaction begins and ends, and nothing is in between.
  let depth = 0
  for (const each of statements) {
    depth += each.startsWith('begin') ? 1 : 0
    expect([each, depth > 0]).toEqual([each, true])
    depth -= each === 'commit' ? 1 : 0
  }
})

it('gives up a transaction of a suspended process before the lease of a lock ends', async () => {
  const [row] = await open().transact((sql) => sql('show idle_in_transaction_session_timeout'))
  expect(row).toEqual({ idle_in_transaction_session_timeout: '30s' })
})

it('idle connections do not keep a process alive', () => {
  const at = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
  const script = `
    const { openDatabase } = await import(${at('state/postgres/open-database.ts')})
    const clock = { monotonic: () => 0, sleep: () => Promise.reject(new Error('no sleep')) }
    const { signal } = new AbortController()
    const database = openDatabase(${JSON.stringify(schema.configure())}, { clock, signal })
    await Promise.all([1, 2].map(() => database.transact((sql) => sql('select 1'))))
    process.on('exit', () => console.log(performance.now() - start))
    const start = performance.now()`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  // The client closes idle connections after 10 s.
  const idleMs = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(idleMs).toBeLessThan(9000)
})

it('the page on state has the tables and their version', async () => {
  await open().transact((sql) => sql('select 1'))
  const created = await schema.query(
    `select tablename from pg_tables where schemaname = '${schema.name}'`,
  )
  const [row] = await schema.query(`select version from ${schema.name}.version`)
  const page = readFileSync(
    new URL('../../docs/internals/state-format.md', import.meta.url),
    'utf8',
  )
  const [, section = ''] = page.split('## Tables of a database')
  const named = Array.from(section.split('For people')[0]?.matchAll(/^- `(\w+)`: /gm) ?? [])
  const tables = created.map(({ tablename }) => String(tablename))
  expect(named.map(([, name = '']) => name).toSorted()).toEqual(tables.toSorted())
  expect(section).toContain(`the version of the tables, now ${String(row?.['version'])},`)
})
