import type { LockHolder } from '../format/lock-file.ts'
import { leaseMs } from '../locks/lease.ts'
import type { LockScope } from '../locks/locks.ts'
import { isDead, type Machine } from '../locks/machine.ts'
import type { Sql } from './database.ts'
import {
  deleteUnchanged,
  findBefore,
  hold,
  queueUp,
  type LockRows,
  type QueuedLock,
} from './lock-statements.ts'

/** A process has the lock now. */
interface Acquired {
  version: string
  /** Holders whose lock was removed, and who may not have noticed it yet. */
  revoked: LockHolder[]
}

/** A process has to wait for another one. */
export interface Waiting {
  version: null
  other: LockHolder | null
  /** Whether that one has a lock; otherwise it only waits for one. */
  isHeld: boolean
}

/** The turn of a process that wants a lock. */
export type Turn = Acquired | Waiting

/** Queues up, or shows that this process still waits, and takes the lock if it is its turn. */
export async function takeTurn(
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
export class SignsOfLife {
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
