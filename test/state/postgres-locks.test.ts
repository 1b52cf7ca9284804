// @module-tag often
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leaseMs, type Lease } from '../../src/state/locks/lease.ts'
import { accountScope, type Contender, type LockScope } from '../../src/state/locks/locks.ts'
import type { Database } from '../../src/state/postgres/database.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { createPostgresFiles } from '../../src/state/postgres/postgres-files.ts'
import { PostgresLocks } from '../../src/state/postgres/postgres-locks.ts'
import { buildContender, buildHolder, machine } from './contender.ts'
import { context, TestSchema } from './test-schema.ts'

let schema: TestSchema
const leases: Lease[] = []
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(async () => {
  await Promise.all(leases.splice(0).map((lease) => lease.release()))
  await schema.remove()
})

/** Opens the locks of an account like a process of its own. */
const open = (account = 'lock/a') =>
  new PostgresLocks(openDatabase(schema.configure(), context), account)

const domains = (...names: string[]): LockScope => ({ workspace: 'w', domains: new Set(names) })
const workspace: LockScope = { workspace: 'w', domains: null }

/** Looks for a lock again soon. */
const quick: Contender['clock'] = {
  ...context.clock,
  sleep: (ms, signal, name) => context.clock.sleep(name === undefined ? 5 : ms, signal),
}

/** Acquires a lock without waiting for it. */
async function acquire(token: string, scope: LockScope, more?: Partial<Contender>): Promise<Lease> {
  const lease = await open().acquire(scope, buildContender(token, more))
  leases.push(lease)
  return lease
}

/** Waits until these processes are in the queue, in this order. */
async function waitForQueue(...tokens: string[]): Promise<void> {
  for (;;) {
    const rows = await schema.query(
      `select token from ${schema.name}.locks where not held order by ticket`,
    )
    if (rows.map((row) => row['token']).join(' ') === tokens.join(' ')) return
    await context.clock.sleep(1)
  }
}

/** A process that waits for a lock, by a clock that passes time only in waits. */
function createWaiter(token: string) {
  let now = 0
  let step: (ms: number) => Promise<void> = () => Promise.resolve()
  const clock: Contender['clock'] = {
    monotonic: () => now,
    sleep: async (ms, signal, name) => {
      if (name === 'lock-beat') return context.clock.sleep(ms, signal)
      await step(ms)
      now += ms
    },
  }
  return {
    contender: { clock, timeoutMs: 3_600_000, holder: buildHolder(token) },
    onWait: (work: (ms: number) => Promise<void>) => (step = work),
    readTime: () => now,
  }
}

const isLocked = (by: string) => ({
  code: 'locked',
  message: expect.stringContaining(`${by}@host`) as string,
})

describe('locks by domain', () => {
  it.each<[string, LockScope, LockScope, boolean]>([
    ['of the same domain', domains('a'), domains('a'), true],
    ['with a domain in common', domains('a', 'b', 'c'), domains('x', 'c'), true],
    ['of other domains', domains('a', 'b'), domains('c', 'd'), false],
    ['of a workspace and a domain of it', workspace, domains('a'), true],
    ['of a domain and its workspace', domains('a'), workspace, true],
    ['of a workspace and a domain of none', workspace, domains(), true],
    ['of nothing', domains(), domains(), false],
    ['of two workspaces', workspace, { workspace: 'v', domains: null }, false],
    ['of a domain in two', domains('a'), { workspace: 'v', domains: new Set(['a']) }, false],
    ['of a workspace and the account', workspace, accountScope, true],
    ['of a domain and the account', domains('a'), accountScope, true],
    ['of the account', accountScope, accountScope, true],
  ])('%s exclude each other: %s', async (_what, first, second, excludes) => {
    for (const [one, two] of [
      [first, second],
      [second, first],
    ] as const) {
      const lease = await acquire('one', one)
      if (excludes) {
        await expect(acquire('two', two)).rejects.toMatchObject(isLocked('one'))
        expect(await open().listHolders(two)).toEqual([buildHolder('one')])
      } else {
        await (await acquire('two', two)).release()
        expect(await open().listHolders(two)).toEqual([])
      }
      await lease.release()
    }
  })

  it('of two accounts are independent', async () => {
    await acquire('one', accountScope)
    const other = await open('lock/b').acquire(accountScope, buildContender('two'))
    await other.release()
  })

  it('of 10,000 domains each are compared quickly', async () => {
    const name = (i: number) => `www${i}.example.com`
    const all = (from: number) =>
      domains(...Array.from({ length: 10_000 }, (_, i) => name(from + i)))
    await acquire('one', all(0))
    await acquire('two', all(10_000))
    await expect(acquire('three', all(9_999))).rejects.toMatchObject(isLocked('one'))
  })

  it('are acquired first come, first served, and nobody is overtaken', async () => {
    const first = await acquire('first', domains('a'))
    const order: string[] = []
    const wait = async (token: string, scope: LockScope) => {
      const lease = await open().acquire(
        scope,
        buildContender(token, { timeoutMs: 60_000, clock: quick }),
      )
      order.push(token)
      return lease
    }
    const second = wait('second', domains('a', 'b'))
    await waitForQueue('second')
    // It could begin at once, and would let the second one wait for longer.
    const third = wait('third', domains('b'))
    await waitForQueue('second', 'third')
    const apart = wait('apart', domains('c'))
    await (await apart).release()
    await first.release()
    await (await second).release()
    await (await third).release()
    expect(order).toEqual(['apart', 'second', 'third'])
  })

  it('in a circle of wishes are acquired one after another, without deadlock', async () => {
    const held: string[] = []
    const most = new Map<string, number>()
    const run = async (i: number) => {
      const names = [`d${i}`, `d${(i + 1) % 6}`]
      const scope = domains(...names)
      for (let round = 0; round < 3; round++) {
        const contender = buildContender(`${i} ${round}`, { timeoutMs: 60_000, clock: quick })
        const lease = await open().acquire(scope, contender)
        held.push(...names)
        for (const name of held) most.set(name, held.filter((each) => each === name).length)
        await context.clock.sleep(1)
        for (const name of names) held.splice(held.indexOf(name), 1)
        await lease.release()
      }
    }
    await Promise.all(Array.from({ length: 6 }, (_, i) => run(i)))
    expect([...most.values()]).toEqual([1, 1, 1, 1, 1, 1])
    expect(await schema.query(`select from ${schema.name}.locks`)).toEqual([])
  })

  it('leave the queue when the wait ends, or is interrupted', async () => {
    await acquire('one', domains('a'))
    await expect(acquire('two', domains('a'))).rejects.toMatchObject(isLocked('one'))
    const interrupt = new AbortController()
    const waiting = acquire('three', domains('a'), {
      timeoutMs: 60_000,
      clock: quick,
      signal: interrupt.signal,
      onWait: () => interrupt.abort(),
    })
    await expect(waiting).rejects.toMatchObject(isLocked('one'))
    await waitForQueue()
  })

  it('report a wait once, with who is before', async () => {
    const one = await acquire('one', domains('a'))
    const waits: unknown[] = []
    const waiting = acquire('two', domains('a'), {
      timeoutMs: 60_000,
      clock: quick,
      onWait: (...wait) => void waits.push(wait),
    })
    await waitForQueue('two')
    await context.clock.sleep(20)
    await one.release()
    await waiting
    expect(waits).toEqual([[buildHolder('one'), 60_000]])
  })
})

describe('a process that only waits for a lock', () => {
  it('is not called its holder, and has no lock to remove', async () => {
    await acquire('one', domains('a'))
    const two = acquire('two', domains('a', 'b'), { timeoutMs: 60_000, clock: quick })
    await waitForQueue('two')
    // "state unlock" finds no lock of b: nobody has it.
    expect(await open().listHolders(domains('b'))).toEqual([])
    await expect(acquire('three', domains('b'))).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/is next for two@host/) as string,
      hint: expect.not.stringContaining('unlock') as string,
    })
    await open().revoke('one', { ...machine, isRunning: () => false })
    await two
  })
})

describe('a lock of a process that ended without a release', () => {
  /** Locks of a process that shows no sign of life. */
  const leave = async (scope: LockScope) => {
    const clock = { ...context.clock, sleep: () => new Promise<void>(() => undefined) }
    await open().acquire(scope, buildContender('dead', { clock }))
  }
  const lateMachine = { ...machine, boot: 'another' }

  it('is taken over at once if it ran on the same machine', async () => {
    await leave(domains('a'))
    await acquire('next', domains('a'), { machine: { ...machine, isRunning: () => false } })
  })

  it('is taken over after the lease, by the clock of the one that waits', async () => {
    await leave(domains('a'))
    const { contender, readTime } = createWaiter('next')
    await acquire('next', domains('a'), { ...contender, machine: lateMachine })
    expect(readTime()).toBeGreaterThanOrEqual(leaseMs)
    expect(readTime()).toBeLessThan(leaseMs + 5000)
  })

  it('is not taken over while it beats', async () => {
    await leave(domains('a'))
    const { contender, onWait, readTime } = createWaiter('next')
    onWait(async () => {
      if (readTime() < 2 * leaseMs)
        await schema.query(`update ${schema.name}.locks set version = version + 1 where held`)
    })
    await acquire('next', domains('a'), { ...contender, machine: lateMachine })
    expect(readTime()).toBeGreaterThanOrEqual(3 * leaseMs)
  })

  it('is not taken over if it beats at the last moment', async () => {
    await leave(domains('a'))
    const database = openDatabase(schema.configure(), context)
    let beats = 0
    const late: Database = {
      ...database,
      transact: (work) =>
        database.transact((sql) =>
          work(async (statement, values) => {
            if (statement.includes('as ended') && beats === 0) {
              const beat = `update ${schema.name}.locks set version = version + 1 where held`
              beats = (await schema.query(`${beat} returning 1`)).length
            }
            return sql(statement, values)
          }),
        ),
    }
    const locks = new PostgresLocks(late, 'lock/a')
    const dead = { ...machine, isRunning: () => false }
    const taking = locks.acquire(domains('a'), buildContender('next', { machine: dead }))
    await expect(taking).rejects.toMatchObject(isLocked('dead'))
    expect(beats).toBe(1)
  })

  it('that was only waiting is not waited for', async () => {
    const one = await acquire('one', domains('a'))
    const { contender, onWait } = createWaiter('two')
    onWait(() => new Promise(() => undefined))
    void open().acquire(domains('a', 'b'), { ...buildContender('two'), ...contender })
    await waitForQueue('two')
    await expect(acquire('three', domains('b'))).rejects.toMatchObject(isLocked('two'))
    await schema.query(
      `update ${schema.name}.locks set seen_at = seen_at - interval '16 s' where not held`,
    )
    await acquire('three', domains('b'))
    await one.release()
  })

  it('that still waits keeps its place', async () => {
    const one = await acquire('one', domains('a'))
    const two = acquire('two', domains('a', 'b'), { timeoutMs: 60_000, clock: quick })
    await waitForQueue('two')
    const [before] = await schema.query(`select seen_at from ${schema.name}.locks where not held`)
    const isShown = `select from ${schema.name}.locks where not held and seen_at > $1`
    while ((await schema.query(isShown, [before?.['seen_at']])).length === 0);
    await one.release()
    await two
  })

  it('lets its process queue up again if it was only suspended', async () => {
    const one = await acquire('one', domains('a'))
    const two = acquire('two', domains('a'), { timeoutMs: 60_000, clock: quick })
    await waitForQueue('two')
    await schema.query(`delete from ${schema.name}.locks where token = 'two'`)
    await waitForQueue('two')
    await one.release()
    await two
  })
})

describe('a lock that was removed', () => {
  it('is known to the next holder until that has waited, and to nobody else', async () => {
    const lease = await acquire('one', domains('a', 'b'))
    expect(await open().revoke('one', machine)).toBe(true)
    expect(await open().revoke('one', machine)).toBe(false)
    expect(await open().listHolders(accountScope)).toEqual([])
    await lease.look()
    expect(lease.check(0)).toEqual({ refused: expect.stringContaining('state unlock') as string })
    expect((await acquire('apart', domains('c'))).revoked).toEqual([])
    // It dies before it has waited.
    const died = await acquire('two', domains('a'))
    expect(died.revoked).toEqual([buildHolder('one')])
    await died.release()
    const next = await acquire('three', domains('b'))
    expect(next.revoked).toEqual([buildHolder('one')])
    await next.dropRevoked()
    expect(next.revoked).toEqual([])
    expect((await acquire('four', domains('a'))).revoked).toEqual([])
  })

  it('leaves nothing if its process has ended, or noticed it', async () => {
    await acquire('one', domains('a'))
    expect(await open().revoke('one', { ...machine, isRunning: () => false })).toBe(true)
    const lease = await acquire('two', domains('a'))
    expect(lease.revoked).toEqual([])
    await open().revoke('two', machine)
    await lease.release()
    expect((await acquire('three', domains('a'))).revoked).toEqual([])
  })
})

describe('a removal whose answer was lost', () => {
  it('is known to have removed the lock', async () => {
    await acquire('one', domains('a'))
    const database = openDatabase(schema.configure(), context)
    let losses = 0
    const lossy: Database = {
      ...database,
      transact: async (work) => {
        const result = await database.transact(work)
        // As `Database.transact` does after a loss of the connection.
        return losses++ === 0 ? database.transact(work) : result
      },
    }
    expect(await new PostgresLocks(lossy, 'lock/a').revoke('one', machine)).toBe(true)
  })
})

describe('state under locks by domain', () => {
  const file = (path: string) => [new Map([[path, 'text']])]
  const openFiles = (locks: PostgresLocks) =>
    createPostgresFiles(openDatabase(schema.configure(), context), locks)

  it('is written by two processes at once, and by none without its lock', async () => {
    const [mine, theirs] = [open(), open()]
    leases.push(await mine.acquire(domains('a'), buildContender('mine')))
    leases.push(await theirs.acquire(domains('b'), buildContender('theirs')))
    await Promise.all([
      openFiles(mine).write(file('w/a'), ''),
      openFiles(theirs).write(file('w/b'), ''),
    ])
    await mine.revoke('theirs', machine)
    const late = openFiles(theirs).write(file('w/c'), '')
    await expect(late).rejects.toMatchObject({ code: 'record-moved' })
    await openFiles(mine).write(file('w/d'), '')
    expect(await openFiles(open()).listPaths('w')).toEqual(['w/a', 'w/b', 'w/d'])
  })

  it('is not written after a release', async () => {
    const mine = open()
    await (await mine.acquire(domains('a'), buildContender('mine'))).release()
    const late = openFiles(mine).write(file('w/a'), '')
    await expect(late).rejects.toMatchObject({ code: 'record-moved' })
  })
})
