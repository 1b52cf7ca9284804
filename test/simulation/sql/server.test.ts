import { describe, expect, it } from 'vitest'
import { openState } from '../../../src/state/store/open-state.ts'
import type { OpenState } from '../../../src/state/store/store-opener.ts'
import { realDisk } from '../../../src/state/folder/real-disk.ts'
import type { ConnectionPool, Database, Row } from '../../../src/state/postgres/database.ts'
import { openDatabase } from '../../../src/state/postgres/open-database.ts'
import { createPostgresFiles } from '../../../src/state/postgres/postgres-files.ts'
import { openPostgresLedger } from '../../../src/state/postgres/postgres-calls.ts'
import { PostgresLocks } from '../../../src/state/postgres/postgres-locks.ts'
import type { LockScope } from '../../../src/state/locks/locks.ts'
import { buildContender, machine } from '../../state/contender.ts'
import type { Lease } from '../../../src/state/locks/lease.ts'
import { storeContract, type Kind } from '../../state/store-contract.ts'
import { context, TestSchema } from '../../state/test-schema.ts'
import { Chance } from '../chance.ts'
import { findStatement } from './statements.ts'
import { SqlServer } from './server.ts'
import { itLong } from '../../runs.ts'

const config = { url: 'postgres://simulated/database', schema: 'edgewise' }

/** Creates a server whose transactions may be idle for ever. */
function createServer(): SqlServer {
  return new SqlServer({ now: () => 0, after: () => undefined })
}

/** Creates connections without a network in between. */
function connectTo(server: SqlServer): () => ConnectionPool {
  return () => ({
    connect: async () => {
      const session = server.connect()
      return {
        query: (text, values) => session.query(text, values),
        on: () => undefined,
        off: () => undefined,
        release: () => session.lose(),
      }
    },
  })
}

async function inSimulatedDatabase(): Promise<Kind> {
  const server = createServer()
  const open = (
    id = 'default',
    address = 'https://api.example.net',
    account = 'default',
  ): Promise<OpenState> =>
    openState(
      {
        root: '/nowhere',
        id,
        address,
        account,
        state: { store: 'postgres', branch: '', remote: '', path: '', database: config },
      },
      {
        disk: realDisk,
        processName: 'unused',
        openGit: () => Promise.reject(new Error('expected no git')),
        openDatabase: (given) => openDatabase(given, { ...context, createPool: connectTo(server) }),
      },
    )
  await (await open()).store.load()
  return {
    open,
    elsewhere: open,
    damage: async (name, change) => {
      const files = server.engine.tables.get('files')
      const [path = '', stored] =
        [...(files ?? [])].find(([each]) => each.endsWith(name) && !each.includes('/open/')) ?? []
      if (stored === undefined) throw new Error(`expected a file ${name}`)
      files?.set(path, { ...stored, row: { text: change(String(stored.row['text'])) } })
    },
    everything: async () =>
      ['files', 'locks'].map((table) =>
        [...server.engine.committed(table)]
          .map(([key, { row }]) => [key, row])
          .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      ),
    remove: () => undefined,
  }
}

storeContract('the simulated PostgreSQL', inSimulatedDatabase, {
  own: it,
  shared: it,
  every: true,
  calls: false,
})

/** Notes each statement of a database with its rows. */
function listen(database: Database, heard: unknown[]): Database {
  return {
    ...database,
    transact: (work) =>
      database.transact((sql) =>
        work(async (statement, values) => {
          const rows = await sql(statement, values)
          const text = statement.replaceAll(`${database.schema}.`, '').replaceAll(/\s+/g, ' ')
          // The text that is hashed has the schema.
          if (text.includes('hashtextextended')) return rows
          heard.push([text, values, rows.map((row): Row => ({ ...row }))])
          return rows
        }),
      ),
  }
}

/** Runs random changes by two processes of one account; returns all statements with their rows. */
async function runChanges(seed: number, open: () => Database): Promise<unknown[]> {
  const chance = new Chance(`statements ${seed}`)
  const heard: unknown[] = []
  let ids = 0
  const processes = [1, 2].map(() => {
    const database = listen({ ...open(), newId: () => `id ${++ids}` }, heard)
    const locks = new PostgresLocks(database, 'lock/one')
    return { locks, files: createPostgresFiles(database, locks) }
  })
  const leases: Lease[] = []
  const drawScope = (): LockScope => ({
    workspace: chance.pick([null, 'w', 'w', 'w', 'v']),
    domains: chance.pick([null, new Set(chance.some(['a', 'b', 'c', 'd']))]),
  })
  let tokens = 0
  const folders = ['w/c', 'w/a', 'w/a/b', 'w-1/a', 'v/é']
  const drawPath = () => chance.pick(folders) + chance.pick(['', '/x', '/y', '/z/x'])
  const drawText = () => (chance.happens(0.3) ? null : `${chance.draw()}`)
  for (let step = 0; step < 40; step++) {
    const { locks, files } = chance.pick(processes)
    const changes = [new Map(chance.some([1, 2, 3]).map(() => [drawPath(), drawText()]))]
    await chance.pick([
      async () => heard.push(await locks.listHolders(drawScope())),
      async () => heard.push(await locks.listDomains(`token ${chance.between(1, tokens + 1)}`)),
      async () => {
        const lease = await locks
          .acquire(drawScope(), buildContender(`token ${++tokens}`))
          .catch((error: Error) => void heard.push(error.message))
        if (lease !== undefined) leases.push(lease)
      },
      async () => leases.splice(chance.between(0, leases.length), 1)[0]?.release(),
      async () => leases.at(-1)?.dropRevoked(),
      async () => heard.push(await locks.revoke(`token ${chance.between(1, tokens + 1)}`, machine)),
      async () => heard.push([...(await files.load(chance.pick(folders)))]),
      async () => heard.push(await files.listPaths(chance.pick(folders))),
      async () => heard.push(await files.listTopFolders()),
      async () => heard.push(await files.loadLocalAndShared(drawPath())),
      () => files.add(drawPath(), `${chance.draw()}`, ''),
      () => files.write(changes, '').catch((error: Error) => heard.push(error.name)),
      () =>
        files
          .publish(changes, '', async (shared) => void heard.push(await shared.listPaths('w')))
          .catch((error: Error) => heard.push(error.name)),
    ])()
  }
  for (const lease of leases) await lease.release()
  return heard
}

itLong('answers each statement as PostgreSQL does', async () => {
  const schema = await TestSchema.make()
  for (const seed of [1, 2, 3]) {
    await schema.query(`drop schema if exists ${schema.name} cascade`)
    const server = createServer()
    const simulated = await runChanges(seed, () =>
      openDatabase(config, { ...context, createPool: connectTo(server) }),
    )
    const real = await runChanges(seed, () => openDatabase(schema.configure(), context))
    for (const [i, each] of simulated.entries()) expect([i, each]).toEqual([i, real[i]])
    expect(simulated).toEqual(real)
  }
  await schema.remove()
})

itLong('counts the calls of an account as PostgreSQL does, by its own clock', async () => {
  const schema = await TestSchema.make()
  const clocks = () => ({ boot: 'boot', now: 0, up: 1_000_000 })
  const count = async (database: Database) => {
    const [one, two] = [1, 2].map(() => openPostgresLedger(database, 'budget/one', clocks))
    if (one === undefined || two === undefined) throw new TypeError('expected two ledgers')
    const heard: unknown[] = []
    const look = async () => {
      const { calls, waiting } = await two.load()
      heard.push(
        calls.map(({ time, count: number }) => [Math.round((time - 1_000_000) / 5000), number]),
        waiting.map(({ used, wanted }) => [used, wanted]),
      )
    }
    await one.record(() => [{ time: 995_000, count: 2 }])
    await look()
    await one.load({ count: 3, inMs: 1000 })
    await look()
    await one.reserve(
      () => [
        { time: 990_000, count: 1 },
        { time: 1_030_000, count: 2 },
      ],
      () => true,
      4,
    )
    await look()
    await one.record(() => [{ time: 900_000, count: 1 }])
    await two.record(() => [])
    await look()
    return heard
  }
  const simulated = openDatabase(config, { ...context, createPool: connectTo(createServer()) })
  const real = await count(openDatabase(schema.configure(), context))
  expect(await count(simulated)).toEqual(real)
  expect(real).toContainEqual([
    [-2, 1],
    [6, 2],
  ])
  await schema.remove()
})

it('knows no other statement', () => {
  expect(() => findStatement('select 1')).toThrow('expected a statement of')
})

describe('two transactions', () => {
  const begin = 'begin isolation level read committed'
  const put = `insert into files (path, text) select * from unnest($1::text[], $2::text[])
    on conflict (path) do update set text = excluded.text`
  const read = 'select text from files where path = $1'

  async function open() {
    const server = createServer()
    const pool = connectTo(server)
    await openDatabase(config, { ...context, createPool: pool }).transact(async () => undefined)
    const [one, two] = [server.connect(), server.connect()]
    for (const session of [one, two]) await session.query(begin)
    return { server, one, two }
  }

  it('do not see what the other one has not committed', async () => {
    const { one, two } = await open()
    await one.query(put, [['a'], ['1']])
    expect((await two.query(read, ['a'])).rows).toEqual([])
    await one.query('commit')
    expect((await two.query(read, ['a'])).rows).toEqual([{ text: '1' }])
  })

  it('wait for a row that the other one has changed', async () => {
    const { server, one, two } = await open()
    await one.query(put, [['a'], ['1']])
    const waiting = two.query(put, [['a'], ['2']])
    await Promise.resolve()
    expect(server.engine.locks.waiting).toBe(1)
    one.lose()
    await waiting
    await two.query('commit')
    expect(server.engine.committed('files').get('a')?.row).toEqual({ text: '2' })
  })

  it('that wait for each other fail', async () => {
    const { one, two } = await open()
    await one.query(put, [['a'], ['1']])
    await two.query(put, [['b'], ['2']])
    const waiting = one.query(put, [['b'], ['1']])
    await expect(two.query(put, [['a'], ['2']])).rejects.toMatchObject({ code: '40P01' })
    two.lose()
    await waiting
  })

  it('that are open when the server stops change nothing', async () => {
    const { server, one } = await open()
    await one.query(put, [['a'], ['1']])
    server.stop()
    await expect(one.query('commit')).rejects.toMatchObject({ code: '57P01' })
    expect(() => server.connect()).toThrow('starting up')
    expect(server.engine.committed('files').size).toBe(0)
  })
})
