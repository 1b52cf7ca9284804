import type { Domain } from '../../core/model/item.ts'
import { parseLock, type FoundLock, type LockHolder } from '../format/lock-file.ts'
import { Lease, readMoment, leaseMs } from '../locks/lease.ts'
import {
  createLockedError,
  createQueuedError,
  pollMs,
  type Contender,
  type LockScope,
  type Locks,
} from '../locks/locks.ts'
import { type Machine, isDead } from '../locks/machine.ts'
import type { Register } from '../store/register.ts'
import type { Database, Sql } from './database.ts'
import {
  deleteLocks,
  findDomains,
  findHeldLocks,
  findLock,
  replaceText,
  revoke,
  type LockRows,
  deleteUnchanged,
  findBefore,
  hold,
  queueUp,
  type QueuedLock,
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

/** A process has the lock now. */
interface Acquired {
  version: string
  /** Holders whose lock was removed, and who may not have noticed it yet. */
  revoked: LockHolder[]
}

/** A process has to wait for another one. */
interface Waiting {
  version: null
  other: LockHolder | null
  /** Whether that one has a lock; otherwise it only waits for one. */
  isHeld: boolean
}

/** The turn of a process that wants a lock. */
type Turn = Acquired | Waiting

/** Queues up, or shows that this process still waits, and takes the lock if it is its turn. */
async function takeTurn(
  sql: Sql,
  rows: LockRows,
  scope: LockScope,
  holder: LockHolder,
  signs: SignsOfLife,
): Promise<Turn> {
  const version = await queueUp(sql, rows, scope, holder)
  const locks = await findBefore(sql, rows, holder.token)
  const gone = await deleteUnchanged(sql, rows, signs.findEnded(locks))
  const turn = judgeTurn(
    version,
    locks.filter(({ token }) => !gone.includes(token)),
  )
  if (turn.version !== null) await hold(sql, rows, holder.token)
  return turn
}

/**
 * Judges whether it is the turn of a process.
 *
 * @param version of its lock
 * @param locks that exclude its lock, and that others have or wanted earlier, first to last
 */
export function judgeTurn(version: string, locks: QueuedLock[]): Turn {
  const before = locks.filter(({ holder }) => holder !== null)
  const first = before.find(({ isHeld }) => isHeld) ?? before[0]
  if (first !== undefined) return { version: null, other: first.holder, isHeld: first.isHeld }
  // What is left has no holder, but marks of former ones.
  return { version, revoked: locks.flatMap(({ revoked }) => revoked) }
}

/**
 * Signs of life of the holders of locks, as this process has seen them by its own clock: a database
 * that moves to another machine may have another time.
 */
class SignsOfLife {
  readonly #machine: Machine
  readonly #clock: { monotonic(): number }
  readonly #seen = new Map<string, { version: string; since: number }>()

  constructor(machine: Machine, clock: { monotonic(): number }) {
    this.#machine = machine
    this.#clock = clock
  }

  /**
   * Finds the locks whose process has certainly ended, or was not seen alive for the whole lease.
   */
  findEnded(locks: QueuedLock[]): QueuedLock[] {
    const now = this.#clock.monotonic()
    return locks.filter(({ token, version, holder }) => {
      if (holder === null) return false
      const last = this.#seen.get(token)
      const since = last?.version === version ? last.since : now
      this.#seen.set(token, { version, since })
      return isDead(holder, this.#machine) || now - since >= leaseMs
    })
  }
}
