import type { LockHolder } from '../format/lock-file.ts'
import { leaseMs } from '../lease.ts'
import { isDead, type Machine } from '../machine.ts'

/** A lock of another process. */
interface OtherLock {
  token: string
  /** Changes with each sign of life. */
  version: string
  holder: LockHolder | null
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
  findEnded<Lock extends OtherLock>(locks: Lock[]): Lock[] {
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
