import type { Domain } from '../../core/model/item.ts'
import { formatLock, parseLock, type FoundLock } from '../format/lock-file.ts'
import { Lease, readMoment } from '../locks/lease.ts'
import {
  createLockedError,
  createQueuedError,
  pollMs,
  type LockScope,
  type Locks,
} from '../locks/locks.ts'
import { isDead, type Machine } from '../locks/machine.ts'
import type { Register } from '../store/register.ts'
import type { Database, Sql } from './database.ts'
import { ignoreUnreachable } from './open-database.ts'
import { overlaps, takeTurn, toValues, toVersion, SignsOfLife } from './lock-queue.ts'

/** The locks of an account in rows of a table: one for each process that has or wants one. */
export interface PostgresLocks extends Locks {
  readonly location: string
  /**
   * Finds what the lock is now, in a transaction in which it does not change any more, and whether
   * this process has it. Null if this process never acquired one.
   */
  findHeld(sql: Sql): Promise<(FoundLock & { isHeld: boolean }) | null>
}

/**
 * Creates the locks of an account. The number of a row is a fencing number and the place in the
 * queue: a process waits for all others with a smaller number whose scope has a domain of its own,
 * so that nobody overtakes it and no two processes wait for each other.
 *
 * @param account path of the account's lock
 */
export function createPostgresLocks(database: Database, account: string): PostgresLocks {
  const location = `${database.location}, ${account}`
  const table = `${database.schema}.locks`
  /** The lock that this process acquired last. */
  let current: { token: string; scope: LockScope } | null = null
  const leave = (token: string) =>
    database.transact((sql) => sql(`delete from ${table} where token = $1`, [token]))
  const list = (sql: Sql, scope: LockScope) =>
    sql(
      `select version, text from ${table} as other
       where account = $1 and held and ${overlaps('$2::text', '$3::text[]')} order by ticket`,
      [account, ...toValues(scope)],
    )
  /** Reads the row of a lock; if it is gone, that of who has the lock now. */
  const read = async (sql: Sql, token: string, scope: LockScope) => {
    const [own] = await sql(`select version, text from ${table} where token = $1 for share`, [
      token,
    ])
    return toVersion(own ?? (await list(sql, scope))[0])
  }
  const openRow = (token: string, scope: LockScope): Register => ({
    location,
    read: () => database.transact((sql) => read(sql, token, scope)),
    compareAndSwap: (version, text) => {
      if (text === null) return leave(token).then(() => '')
      const next = Number(version) + 1
      // Tells a change whose answer was lost from one of another process.
      const change = database.newId()
      return database.transact(async (sql) => {
        const rows = await sql(
          `update ${table} set version = $2, text = $3, change = $4
           where token = $1 and (version = $2 - 1 or change = $4) returning version`,
          [token, next, text, change],
        )
        return rows.length === 0 ? null : String(next)
      })
    },
  })
  return {
    isByDomain: true,
    location,
    acquire: async (scope, contender) => {
      const { holder, machine, timeoutMs, clock, signal, onWait } = contender
      const signs = new SignsOfLife(machine, clock)
      const start = clock.monotonic()
      for (let isReported = false; ; isReported = true) {
        const at = readMoment(machine, clock)
        const turn = await database.transact((sql) =>
          takeTurn(sql, table, account, scope, holder, signs),
        )
        if (turn.version !== null) {
          current = { token: holder.token, scope }
          const { version, marks: revoked } = turn
          const tokens = revoked.map(({ token }) => token)
          const dropRevoked = () =>
            database.transact((sql) => sql(`delete from ${table} where token = any($1)`, [tokens]))
          const acquired = { version, revoked, dropRevoked, at }
          return new Lease(openRow(holder.token, scope), holder, acquired, machine, clock)
        }
        const leftMs = timeoutMs - (clock.monotonic() - start)
        if (signal.aborted || leftMs <= 0) {
          await ignoreUnreachable(leave(holder.token))
          throw turn.isHeld
            ? createLockedError(turn.other, location, contender)
            : createQueuedError(turn.other, contender)
        }
        if (!isReported) onWait?.(turn.other, timeoutMs)
        await clock.sleep(Math.min(pollMs, leftMs), signal)
      }
    },
    listHolders: async (scope) => {
      const rows = await database.transact((sql) => list(sql, scope))
      return rows.flatMap((row) => parseLock(String(row['text'])).holder ?? [])
    },
    listDomains: (token) =>
      database.transact(async (sql) => {
        const [row] = await sql(`select domains from ${table} where token = $1`, [token])
        return (row?.['domains'] ?? null) as Domain[] | null
      }),
    revoke: (token, machine) => {
      // Tells a removal whose answer was lost from a release.
      let wasHeld = false
      return database.transact(async (sql) => {
        wasHeld = (await revoke(sql, table, token, machine)) || wasHeld
        return wasHeld
      })
    },
    findHeld: async (sql) => {
      if (current === null) return null
      const found = await read(sql, current.token, current.scope)
      return { ...found, isHeld: parseLock(found.text).holder?.token === current.token }
    },
  }
}

async function revoke(sql: Sql, table: string, token: string, machine: Machine): Promise<boolean> {
  const [row] = await sql(`select text from ${table} where token = $1 for update`, [token])
  const { holder } = parseLock(toVersion(row).text)
  if (holder === null) return false
  if (isDead(holder, machine)) {
    await sql(`delete from ${table} where token = $1`, [token])
    return true
  }
  const mark = formatLock({ holder: null, revoked: [holder] }, 0)
  await sql(`update ${table} set version = version + 1, text = $2 where token = $1`, [token, mark])
  return true
}
