import { SqlFailure } from './sql-failure.ts'

export type LockMode = 'share' | 'exclusive'

interface Waiter<Owner> {
  owner: Owner
  mode: LockMode
  grant(): void
  refuse(error: SqlFailure): void
}

interface Lock<Owner> {
  holders: Map<Owner, LockMode>
  waiters: Waiter<Owner>[]
}

/** Locks of transactions, which have them until they end. Those who wait are served in turn. */
export class LockTable<Owner> {
  readonly #locks = new Map<string, Lock<Owner>>()
  /** Names of the locks that each owner has or waits for. */
  readonly #names = new Map<Owner, Set<string>>()

  /** Number of owners that wait. */
  get waiting(): number {
    return [...this.#locks.values()].reduce((sum, { waiters }) => sum + waiters.length, 0)
  }

  /**
   * Acquires a lock, or waits for it.
   *
   * @throws SqlFailure if the owners would wait for each other, or this one ends before its turn
   */
  async acquire(owner: Owner, name: string, mode: LockMode): Promise<void> {
    const lock: Lock<Owner> = this.#locks.get(name) ?? { holders: new Map(), waiters: [] }
    this.#locks.set(name, lock)
    const names = this.#names.get(owner) ?? new Set()
    this.#names.set(owner, names.add(name))
    const has = lock.holders.get(owner)
    if (has === 'exclusive' || has === mode) return
    if ((has !== undefined || lock.waiters.length === 0) && isFree(lock, owner, mode)) {
      lock.holders.set(owner, mode)
      return
    }
    if (this.#waitsFor(lock, owner, owner, new Set()))
      throw new SqlFailure('40P01', 'deadlock detected')
    await new Promise<void>((resolve, reject) => {
      const waiter = { owner, mode, grant: resolve, refuse: reject }
      // Who waits for more of what it has comes first: the others wait for it anyway.
      if (has === undefined) lock.waiters.push(waiter)
      else lock.waiters.unshift(waiter)
    })
  }

  has(owner: Owner, name: string, mode: LockMode): boolean {
    return this.#locks.get(name)?.holders.get(owner) === mode
  }

  /** Releases what an owner has; what it waits for fails. */
  releaseAll(owner: Owner, error: SqlFailure): void {
    for (const name of this.#names.get(owner) ?? []) {
      const lock = this.#locks.get(name)
      if (lock === undefined) continue
      lock.holders.delete(owner)
      for (const waiter of lock.waiters) if (waiter.owner === owner) waiter.refuse(error)
      lock.waiters = lock.waiters.filter((waiter) => waiter.owner !== owner)
      this.#serve(lock)
      if (lock.holders.size === 0) this.#locks.delete(name)
    }
    this.#names.delete(owner)
  }

  #serve(lock: Lock<Owner>): void {
    for (;;) {
      const [next] = lock.waiters
      if (next === undefined || !isFree(lock, next.owner, next.mode)) return
      lock.waiters.shift()
      lock.holders.set(next.owner, next.mode)
      next.grant()
    }
  }

  /** Returns whether those who keep `owner` from a lock wait for `goal`. */
  #waitsFor(lock: Lock<Owner>, owner: Owner, goal: Owner, seen: Set<Owner>): boolean {
    const others = [...lock.holders.keys(), ...lock.waiters.map((waiter) => waiter.owner)]
    return others.some((other) => {
      if (other === owner || seen.has(other)) return false
      seen.add(other)
      return [...this.#locks.values()].some(
        (next) =>
          next.waiters.some((waiter) => waiter.owner === other) &&
          (next.holders.has(goal) || this.#waitsFor(next, other, goal, seen)),
      )
    })
  }
}

function isFree<Owner>(lock: Lock<Owner>, owner: Owner, mode: LockMode): boolean {
  return [...lock.holders].every(
    ([other, held]) => other === owner || (mode === 'share' && held === 'share'),
  )
}
