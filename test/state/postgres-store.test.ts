// @module-tag often
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Lease } from '../../src/state/locks/lease.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import type { Database } from '../../src/state/postgres/database.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { acquireAccount, machine } from './contender.ts'
import { PostgresProxy } from './postgres-proxy.ts'
import { context, findServer, TestSchema } from './test-schema.ts'
import { verifyChain } from '../../src/state/format/verify-chain.ts'
import {
  buildApplied,
  buildItem,
  listEntries,
  recordedAt,
  storeContract,
  type Kind,
  buildTimeout,
  begin,
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

it('is loaded as it is at one moment, whatever another process records meanwhile', async () => {
  const kind = await inDatabase()
  const before = buildTimeout('a.example.com', '1')
  const writing = (await kind.open()).store
  await writing.save(before, 'test')
  await writing.load()
  await begin(writing, 'one', before)
  let statements = 0
  const { store } = await kind.open('default', undefined, undefined, undefined, (database) => ({
    ...database,
    read: (work) =>
      database.read((sql) =>
        work(async (statement, values) => {
          const rows = await sql(statement, values)
          const done = buildTimeout('a.example.com', '99')
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

it('has a whole history though commands with locks of other domains append at once', async () => {
  const kind = await inDatabase()
  const stores = await Promise.all([0, 1, 2].map(async () => (await kind.open()).store))
  const by = { name: 'ada', knownBy: 'unidentified' } as const
  const more = { at: recordedAt, by, commit: null, plan: null, reason: null, outcome: 'done' }
  await Promise.all(
    stores.map(async (store, i) => {
      for (let n = 0; n < 5; n++) {
        store.chain.add({ ...more, kind: 'import', about: `${i}-${n}` })
        await store.save(buildTimeout(`${i}.example.com`, String(n)), 'test')
      }
    }),
  )
  const chain = await (await kind.open()).store.chain.load()
  const { findings, entries } = verifyChain(chain, { head: null, verifies: null })
  expect([findings, entries]).toEqual([[], 15])
  expect(new Set(listEntries(chain).map(({ about }) => about)).size).toBe(15)
  await kind.remove()
})

it('has one entry of an apply although the answer to its commit was lost', async () => {
  const kind = await inDatabase()
  let isLost = false
  const opened = await kind.open(undefined, undefined, undefined, undefined, (database) => ({
    ...database,
    // The transaction takes effect, and runs again.
    transact: async (work) => {
      if (isLost) await database.transact(work)
      return database.transact(work)
    },
  }))
  const { store } = opened
  const lease = await acquireAccount(opened, 'somebody')
  await store.load()
  const other = await kind.open()
  for (const [i, about] of ['one', 'two', 'three'].entries()) {
    isLost = i === 1
    await begin(store, about, new Map())
    await store.endApply(buildApplied(about, { endedAt: recordedAt, outcome: 'complete' }))
  }
  const chain = await other.store.chain.load()
  expect(listEntries(chain).map(({ about }) => about)).toEqual(['one', 'two', 'three'])
  const { findings, newest } = verifyChain(chain, { head: null, verifies: null })
  expect([findings, newest]).toEqual([[], store.chain.newest?.hash])
  await lease.release()
  await kind.remove()
})

describe('the lock in PostgreSQL', () => {
  let kind: PostgresKind
  beforeEach(async () => {
    kind = await inDatabase()
  })
  afterEach(() => kind.remove())
  const state = buildTimeout('a.example.com', '1')

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
    const late = buildTimeout('a.example.com', '2')
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
