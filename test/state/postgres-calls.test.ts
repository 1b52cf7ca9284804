// @module-tag often
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { CallLedger, OtherCalls } from '../../src/core/model/call-ledger.ts'
import { formatCalls, type MachineTimes } from '../../src/state/format/calls.ts'
import type { Database } from '../../src/state/postgres/database.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { openPostgresLedger } from '../../src/state/postgres/postgres-calls.ts'
import { PostgresProxy } from './postgres-proxy.ts'
import { context, findServer, TestSchema } from './test-schema.ts'

const minute = 60_000
const account = 'budget/address/default.json'
const boot = 'boot'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

const open = (change?: (url: URL) => void) => openDatabase(schema.configure(change), context)

/** Builds the clocks of a machine that was started so many ms later. */
const buildClocks =
  (laterMs = 0) =>
  (): MachineTimes => ({
    boot,
    now: Date.now(),
    up: performance.now() + 1e9 - laterMs,
  })

/** Opens the ledger like a process of its own. */
const openLedger = (here = buildClocks(), database: Database = open(), path = account) =>
  openPostgresLedger(database, path, here)

/** Lets calls, and what processes have said, become older. */
const age = (ms: number) =>
  schema.query(
    `update ${schema.name}.calls set wanted_from = wanted_from - $1 * interval '1 ms',
       wanted_until = wanted_until - $1 * interval '1 ms',
       ended = array(select each - $1 * interval '1 ms' from unnest(ended) as each)`,
    [ms],
  )

const sum = ({ calls }: OtherCalls) => calls.reduce((all, { count }) => all + count, 0)

/** Reserves one more call while all processes have fewer than `limit`. */
function reserve(ledger: CallLedger, used: number, limit: number): Promise<boolean> {
  const own = () => [{ time: buildClocks()().up, count: used + 1 }]
  return ledger.reserve(own, (others) => sum(others) + used < limit, 1)
}

/** Delays each statement and its answer, as a distant database. */
const delay = (database: Database, ms: () => number): Database => ({
  ...database,
  transact: (work) =>
    database.transact((sql) =>
      work(async (...statement) => {
        await sleep(ms())
        const rows = await sql(...statement)
        await sleep(ms())
        return rows
      }),
    ),
})

describe('the calls of an account in PostgreSQL', () => {
  it('of all processes together stay below the limit, also if all ask at once', async () => {
    const ledgers = Array.from({ length: 5 }, () => openLedger())
    const used = ledgers.map(() => 0)
    const ask = async (i: number) => {
      const isReserved = await reserve(ledgers[i] as CallLedger, used[i] ?? 0, 12)
      if (isReserved) used[i] = (used[i] ?? 0) + 1
      return isReserved
    }
    for (let round = 0; round < 4; round++) await Promise.all(ledgers.map((_, i) => ask(i)))
    expect(used.reduce((a, b) => a + b)).toBe(12)
    await age(minute)
    expect(sum(await openLedger().load())).toBe(0)
    expect(await Promise.all(ledgers.map((_, i) => ask(i)))).toContain(true)
  })

  it('count for a minute after they ended, by the clock of the database', async () => {
    const [mine, theirs] = [openLedger(), openLedger(buildClocks(5 * minute))]
    const { up } = buildClocks()()
    await mine.record(() => [
      { time: up - 50_000, count: 1 },
      { time: up - 20_000, count: 2 },
    ])
    expect(sum(await theirs.load())).toBe(3)
    await age(15_000)
    expect(sum(await theirs.load())).toBe(2)
    await age(30_000)
    expect(sum(await theirs.load())).toBe(0)
  })

  it('in flight of a killed process count until a minute after their latest end', async () => {
    const killed = openLedger()
    await killed.reserve(
      () => [{ time: buildClocks()().up + 100_000, count: 3 }],
      () => true,
      1,
    )
    await age(155_000)
    expect(sum(await openLedger().load())).toBe(3)
    await age(5000)
    expect(sum(await openLedger().load())).toBe(0)
  })

  it('never count as ended before they did, however slow the way to the database', async () => {
    const later = 123_456
    const slow = () => Math.random() * 40
    const mine = openLedger(buildClocks(), delay(open(), slow))
    const theirs = openLedger(buildClocks(later), delay(open(), slow))
    for (let round = 0; round < 8; round++) {
      const { up } = buildClocks()()
      await mine.record(() => [{ time: up, count: 1 }])
      const [seen] = (await theirs.load()).calls
      expect((seen?.time ?? 0) + later).toBeGreaterThanOrEqual(up)
      const reserved: number[] = []
      await theirs.reserve(
        () => [],
        ({ calls }) => {
          reserved.push(...calls.map(({ time }) => time + later))
          return false
        },
        0,
      )
      expect(reserved[0]).toBeGreaterThanOrEqual(up)
    }
  })

  it('of two accounts are apart', async () => {
    await openLedger().record(() => [{ time: buildClocks()().up, count: 7 }])
    expect(sum(await openLedger(undefined, undefined, `${account}.other`).load())).toBe(0)
    expect(sum(await openLedger().load())).toBe(7)
  })

  it('leave no rows when they do not count any more', async () => {
    const now = () => [{ time: buildClocks()().up, count: 1 }]
    await openLedger().record(now)
    await age(minute + 6000)
    await openLedger().load({ count: 1, inMs: 0 })
    await openLedger().record(now)
    const count = () => schema.query(`select count(*)::int as n from ${schema.name}.calls`)
    expect(await count()).toEqual([{ n: 2 }])
  })

  it('tell who waits, how long, and nothing if they only look', async () => {
    const [mine, theirs, plan] = [openLedger(), openLedger(buildClocks(5000)), openLedger()]
    await mine.record(() => [{ time: buildClocks()().up, count: 5 }])
    await plan.load()
    expect((await theirs.load()).waiting).toEqual([])
    await mine.load({ count: 3, inMs: 30_000 })
    const { up } = buildClocks(5000)()
    const [waiting] = (await theirs.load()).waiting
    expect(waiting).toMatchObject({ used: 5, wanted: 3 })
    expect(waiting?.from).toBeGreaterThan(up + 29_000)
    await mine.reserve(
      () => [{ time: buildClocks()().up, count: 6 }],
      () => true,
      2,
    )
    expect((await theirs.load()).waiting).toMatchObject([{ used: 6, wanted: 2 }])
    expect((await mine.load()).waiting).toEqual([])
    await age(5000)
    expect((await theirs.load()).waiting).toEqual([])
  })

  it('can be looked at by a user who may only read', async () => {
    await openLedger().record(() => [{ time: buildClocks()().up, count: 2 }])
    const role = await schema.addRole()
    await schema.query(
      `grant usage on schema ${schema.name} to ${role.name};
       grant select on all tables in schema ${schema.name} to ${role.name}`,
    )
    const reader = open((url) => {
      Object.assign(url, { username: role.name, password: role.password })
    })
    expect(sum(await openLedger(buildClocks(), reader).load())).toBe(2)
  })
})

describe('a reservation whose connection is cut', () => {
  it.each(['cut', 'cut-answer'] as const)('(%s) is decided once it takes effect', async (fate) => {
    const proxy = await PostgresProxy.start(findServer())
    onTestFinished(() => proxy.end())
    const mine = openLedger(
      buildClocks(),
      open((url) => proxy.redirect(url)),
    )
    await mine.record(() => [])
    proxy.cutCommit(fate)
    let asked = 0
    const own = () => [{ time: buildClocks()().up, count: 1 }]
    // The next attempt would be refused, as if a poorer process waited meanwhile.
    const isReserved = await mine.reserve(own, () => ++asked === 1, 1)
    const hadEffect = fate === 'cut-answer'
    expect([isReserved, asked]).toEqual([hadEffect, hadEffect ? 1 : 2])
    expect(sum(await openLedger().load())).toBe(hadEffect ? 1 : 0)
  })

  it('leaves calls that were recorded once', async () => {
    const proxy = await PostgresProxy.start(findServer())
    onTestFinished(() => proxy.end())
    await open().transact((sql) =>
      sql(`insert into ${schema.name}.files values ($1, $2)`, [account, buildFile(4)]),
    )
    const mine = openLedger(
      buildClocks(),
      open((url) => proxy.redirect(url)),
    )
    await mine.load()
    proxy.cutCommit('cut-answer')
    await mine.record(() => [{ time: buildClocks()().up, count: 2 }])
    expect(sum(await openLedger().load())).toBe(6)
  })
})

/** Builds the file of "state migrate", with so many calls of now. */
function buildFile(count: number): string {
  const { now, up } = buildClocks()()
  return formatCalls('before', [{ at: Math.ceil(now), boot, up, count }])
}

describe('calls in the file of a migrated state', () => {
  it('count until they are old, and the file is gone with the next apply', async () => {
    await open().transact(() => Promise.resolve())
    await schema.query(`insert into ${schema.name}.files values ($1, $2), ('w/a', 'kept')`, [
      account,
      buildFile(4),
    ])
    expect(sum(await openLedger().load())).toBe(4)
    await openLedger().record(() => [])
    expect(await schema.query(`select path from ${schema.name}.files`)).toEqual([{ path: 'w/a' }])
    expect(sum(await openLedger().load())).toBe(4)
    await age(minute)
    expect(sum(await openLedger().load())).toBe(0)
  })

  it('are left alone if they are damaged', async () => {
    await open().transact((sql) =>
      sql(`insert into ${schema.name}.files values ($1, 'no json')`, [account]),
    )
    expect(sum(await openLedger().load())).toBe(0)
    await openLedger().record(() => [])
    expect(await schema.query(`select path from ${schema.name}.files`)).toEqual([])
  })
})
