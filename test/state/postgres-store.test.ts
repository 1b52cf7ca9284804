import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Lease } from '../../src/state/lease.ts'
import { openState, type OpenState } from '../../src/state/open-state.ts'
import type { Database } from '../../src/state/postgres/database.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { acquireAccount, machine } from './contender.ts'
import { PostgresProxy } from './postgres-proxy.ts'
import { context, findServer, TestSchema } from './test-schema.ts'
import {
  buildApplied,
  buildDomain,
  buildItem,
  buildWave,
  storeContract,
  type Kind,
} from './store-contract.ts'

interface PostgresKind extends Kind {
  schema: TestSchema
  open(
    id?: string,
    address?: string,
    account?: string,
    change?: (url: URL) => void,
    wrap?: (database: Database) => Database,
  ): Promise<OpenState>
  everything(): Promise<unknown[]>
}

async function inDatabase(): Promise<PostgresKind> {
  const schema = await TestSchema.make()
  const open = (
    id = 'default',
    address = 'https://api.example.net',
    account = 'default',
    change?: (url: URL) => void,
    wrap: (database: Database) => Database = (database) => database,
  ): Promise<OpenState> =>
    openState(
      {
        root: '/nowhere',
        id,
        address,
        account,
        state: {
          store: 'postgres',
          branch: '',
          remote: '',
          path: '',
          database: schema.configure(change),
        },
      },
      {
        disk: realDisk,
        processName: 'unused',
        openGit: () => Promise.reject(new Error('expected no git')),
        openDatabase: (config) => wrap(openDatabase(config, context)),
      },
    )
  // The tables exist, as after "edgewise init".
  await (await open()).store.load()
  return {
    schema,
    open,
    elsewhere: open,
    damage: async (name, change) => {
      const [row] = await schema.query(
        `select path, text from ${schema.name}.files
         where right(path, length($1)) = $1 and path not like '%/open/%'`,
        [name],
      )
      if (row === undefined) throw new Error(`expected a file ${name}`)
      await schema.query(`update ${schema.name}.files set text = $2 where path = $1`, [
        row['path'],
        change(String(row['text'])),
      ])
    },
    everything: async () => [
      await schema.query(`select path, text from ${schema.name}.files order by path`),
      await schema.query(
        `select account, token, version, text from ${schema.name}.locks order by 1, 2`,
      ),
    ],
    remove: () => schema.remove(),
  }
}

storeContract('PostgreSQL', inDatabase, {
  own: it,
  shared: it,
  every: true,
  // They are in a ledger of all applies.
  calls: false,
})

it('a process that lost the lock overwrites nothing', async () => {
  const kind = await inDatabase()
  const slept = await kind.open()
  await acquireAccount(slept, 'slept')
  await slept.store.save(buildDomain('a.example.com', { timeout: buildItem('1') }), 'test')
  const other = await kind.open()
  await other.store.load()
  await other.locks.revoke('slept', machine)
  await acquireAccount(other, 'other')
  await other.store.save(buildDomain('a.example.com', { timeout: buildItem('2') }), 'test')
  const now = await kind.everything()
  const late = buildDomain('a.example.com', { timeout: buildItem('3') })
  const moved = { code: 'record-moved', message: expect.stringContaining('the lock') as string }
  await expect(slept.store.save(late, 'test')).rejects.toMatchObject(moved)
  await expect(slept.store.recordOutcomes(buildApplied('late'), [1], late)).rejects.toMatchObject(
    moved,
  )
  expect(await kind.everything()).toEqual(now)
  await kind.remove()
})

it('is loaded as it is at one moment, whatever another process records meanwhile', async () => {
  const kind = await inDatabase()
  const before = buildDomain('a.example.com', { timeout: buildItem('1') })
  const writing = (await kind.open()).store
  await writing.save(before, 'test')
  await writing.load()
  await writing.recordIntents(buildApplied('one'), buildWave('one', before))
  let statements = 0
  const { store } = await kind.open('default', undefined, undefined, undefined, (database) => ({
    ...database,
    read: (work) =>
      database.read((sql) =>
        work(async (statement, values) => {
          const rows = await sql(statement, values)
          const done = buildDomain('a.example.com', { timeout: buildItem('99') })
          if (statements++ === 0) await writing.recordOutcomes(buildApplied('one'), [1], done)
          return rows
        }),
      ),
  }))
  expect((await store.load()).get('a.example.com')?.get('timeout')?.status).toBe('in-doubt')
  expect(statements).toBeGreaterThan(3)
  expect((await store.load()).get('a.example.com')?.get('timeout')).toEqual(buildItem('99'))
  await kind.remove()
})

describe('the lock in PostgreSQL', () => {
  let kind: PostgresKind
  beforeEach(async () => {
    kind = await inDatabase()
  })
  afterEach(() => kind.remove())
  const state = buildDomain('a.example.com', { timeout: buildItem('1') })
  it('is acquired by one of many at a time', async () => {
    for (let round = 0; round < 5; round++) {
      const opened = await Promise.all(Array.from({ length: 6 }, () => kind.open()))
      const results = await Promise.allSettled(
        opened.map((each, i) => acquireAccount(each, `${round} ${i}`)),
      )
      const won = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(won).toHaveLength(1)
      const lost = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      for (const error of lost) expect(error).toMatchObject({ code: 'locked' })
      await won[0]?.release()
    }
  })

  it.each<[string, (lease: Lease, other: OpenState) => Promise<unknown>, RegExp]>([
    ['was removed', (_, { locks }) => locks.revoke('one', machine), /"edgewise state unlock"/],
    [
      'was deleted',
      () => kind.schema.query(`delete from ${kind.schema.name}.locks`),
      /was deleted/,
    ],
    [
      'was released and acquired by another process',
      async (lease, other) => {
        await lease.release()
        await acquireAccount(other, 'two')
      },
      /now used by two@host/,
    ],
  ])('that %s lets its former holder write nothing', async (_what, lose, why) => {
    const [opened, other] = [await kind.open(), await kind.open()]
    const lease = await acquireAccount(opened, 'one')
    await opened.store.save(state, 'test')
    const [before] = await kind.everything()
    await lose(lease, other)
    const late = buildDomain('a.example.com', { timeout: buildItem('2') })
    await expect(opened.store.save(late, 'test')).rejects.toMatchObject({
      code: 'record-moved',
      message: expect.stringMatching(why) as string,
    })
    expect((await kind.everything())[0]).toEqual(before)
  })

  it('is kept over heartbeats of which one failed after it was stored', async () => {
    const proxy = await PostgresProxy.start(findServer())
    onTestFinished(() => proxy.end())
    const opened = await kind.open('default', undefined, undefined, (url) => proxy.redirect(url))
    const lease = await acquireAccount(opened, 'one')
    for (let beat = 0; beat < 2; beat++) {
      proxy.cutCommit('cut-answer')
      // Sends a heartbeat.
      await lease.dropRevoked()
    }
    await lease.look()
    expect(lease.check(0)).toBe('clear')
    await opened.store.save(state, 'test')
    expect(await (await kind.open()).store.load()).toEqual(state)
  })
})
