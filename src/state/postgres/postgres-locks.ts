import type { Domain } from '../../core/model/item.ts'
import { parseLock, type FoundLock, type LockHolder } from '../format/lock-file.ts'
import { Lease, readMoment } from '../locks/lease.ts'
import {
  createLockedError,
  createQueuedError,
  pollMs,
  type Contender,
  type LockScope,
  type Locks,
} from '../locks/locks.ts'
import type { Machine } from '../locks/machine.ts'
import type { Register } from '../store/register.ts'
import type { Database, Sql } from './database.ts'
import { takeTurn, SignsOfLife } from './lock-queue.ts'
import {
  deleteLocks,
  findDomains,
  findHeldLocks,
  findLock,
  replaceText,
  revoke,
  type LockRows,
} from './lock-statements.ts'
import { ignoreUnreachable } from './open-database.ts'

/**
 * The locks of an account in rows of a table: one for each process that has or wants one. The
 * number of a row is a fencing number and the place in the queue: a process waits for all others
 * with a smaller number whose scope has a domain of its own, so that nobody overtakes it and no two
 * processes wait for each other.
 */
export class PostgresLocks implements Locks {
  readonly isByDomain = true
  readonly location: string
  readonly #database: Database
  readonly #rows: LockRows
  /** The lock that this process acquired last. */
  #current: { token: string; scope: LockScope } | null = null

  /** @param account path of the account's lock */
  constructor(database: Database, account: string) {
    this.location = `${database.location}, ${account}`
    this.#database = database
    this.#rows = { table: `${database.schema}.locks`, account }
  }

  async acquire(scope: LockScope, contender: Contender): Promise<Lease> {
    const { holder, machine, timeoutMs, clock, signal, onWait } = contender
    const signs = new SignsOfLife(machine, clock)
    const start = clock.monotonic()
    for (let isReported = false; ; isReported = true) {
      const at = readMoment(machine, clock)
      const turn = await this.#database.transact((sql) =>
        takeTurn(sql, this.#rows, scope, holder, signs),
      )
      if (turn.version !== null) {
        this.#current = { token: holder.token, scope }
        const dropRevoked = () => this.#delete(turn.revoked.map(({ token }) => token))
        const register = this.#openRow(holder.token, scope)
        return new Lease(register, holder, { ...turn, dropRevoked, at }, machine, clock)
      }
      const leftMs = timeoutMs - (clock.monotonic() - start)
      if (signal.aborted || leftMs <= 0) {
        await ignoreUnreachable(this.#delete([holder.token]))
        throw turn.isHeld
          ? createLockedError(turn.other, this.location, contender)
          : createQueuedError(turn.other, contender)
      }
      if (!isReported) onWait?.(turn.other, timeoutMs)
      await clock.sleep(Math.min(pollMs, leftMs), signal)
    }
  }

  async listHolders(scope: LockScope): Promise<LockHolder[]> {
    const found = await this.#database.transact((sql) => findHeldLocks(sql, this.#rows, scope))
    return found.flatMap(({ text }) => parseLock(text).holder ?? [])
  }

  listDomains(token: string): Promise<Domain[] | null> {
    return this.#database.transact((sql) => findDomains(sql, this.#rows, token))
  }

  revoke(token: string, machine: Machine): Promise<boolean> {
    // Tells a removal whose answer was lost from a release.
    let wasHeld = false
    return this.#database.transact(async (sql) => {
      wasHeld = (await revoke(sql, this.#rows, token, machine)) || wasHeld
      return wasHeld
    })
  }

  /**
   * Finds what the lock is now, in a transaction in which it does not change any more, and whether
   * this process has it. Null if this process never acquired one.
   */
  async findHeld(sql: Sql): Promise<(FoundLock & { isHeld: boolean }) | null> {
    if (this.#current === null) return null
    const { token, scope } = this.#current
    const found = await findLock(sql, this.#rows, token, scope)
    return { ...found, isHeld: parseLock(found.text).holder?.token === token }
  }

  #delete(tokens: string[]): Promise<void> {
    return this.#database.transact((sql) => deleteLocks(sql, this.#rows, tokens))
  }

  #openRow(token: string, scope: LockScope): Register {
    const [database, rows] = [this.#database, this.#rows]
    return {
      location: this.location,
      read: () => database.transact((sql) => findLock(sql, rows, token, scope)),
      compareAndSwap: (version, text) => {
        if (text === null) return this.#delete([token]).then(() => '')
        const next = Number(version) + 1
        const change = database.newId()
        return database.transact(async (sql) =>
          (await replaceText(sql, rows, token, next, text, change)) ? String(next) : null,
        )
      },
    }
  }
}
