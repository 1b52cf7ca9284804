import type { Clock } from '../../core/model/time/clock.ts'
import { formatLock, parseLock, type LockHolder, explainLockLoss } from '../format/lock-file.ts'
import type { Machine } from './machine.ts'
import type { Register } from '../store/register.ts'

/** Lease of a lock, ms: a holder without heartbeat counts as alive for this long. */
export const leaseMs = 90_000
export const heartbeatMs = leaseMs / 5
/** Age from which the last look at the lock is too old to send a call, ms. */
export const maxLookAgeMs = 5000

/** Clock for judging a lease, ms; never set. */
export interface LockClock {
  monotonic(): number
  sleep: Clock['sleep']
}

/**
 * Whether a call may be sent now: `clear`; `look` if the lock must be looked at first; otherwise
 * the reason why not. `isStop`: the account is stopped, and the lock is in use.
 */
export type Clearance = 'clear' | 'look' | { refused: string; isStop?: true }

/** Time since the boot of the machine, ms: without and with the time asleep. */
export interface LockMoment {
  monotonicMs: number
  uptimeMs: number
}

export function readMoment(machine: Machine, clock: LockClock): LockMoment {
  return { monotonicMs: clock.monotonic(), uptimeMs: machine.uptime() }
}

/**
 * Measures the time since a moment, ms. Others saw no heartbeat while this machine was asleep; some
 * systems report that time in whole seconds only. If that clock was set back, the time is unknown.
 */
export function measureAge(last: LockMoment, now: LockMoment): number {
  if (now.uptimeMs < last.uptimeMs - 1000) return Infinity
  return Math.max(now.monotonicMs - last.monotonicMs, now.uptimeMs - last.uptimeMs)
}

/** A new lease: the version of the lock, and when it was acquired. */
interface Acquired {
  version: string
  /** Former holders whose lock was removed, and who may not have noticed it yet. */
  revoked: LockHolder[]
  /** Forgets them; absent if they are in the text of the lock itself. */
  dropRevoked?: (() => Promise<unknown>) | undefined
  at: LockMoment
}

/** A lock in use by this process: it sends heartbeats until it is released. */
export class Lease {
  readonly #register: Register
  readonly #holder: LockHolder
  readonly #machine: Machine
  readonly #clock: LockClock
  readonly #released = new AbortController()
  readonly #heartbeats: Promise<void>
  #revoked: LockHolder[]
  readonly #dropRevoked: Acquired['dropRevoked']
  #version: string
  #beat = 0
  #beating: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null
  #lastHeartbeat: LockMoment
  #lastLook: LockMoment
  /** Reason why the lock is lost; null while it is in use. */
  #loss: string | null = null

  constructor(
    register: Register,
    holder: LockHolder,
    { version, revoked, dropRevoked, at }: Acquired,
    machine: Machine,
    clock: LockClock,
  ) {
    this.#register = register
    this.#holder = holder
    this.#version = version
    this.#revoked = revoked
    this.#dropRevoked = dropRevoked
    this.#lastHeartbeat = at
    this.#lastLook = at
    this.#machine = machine
    this.#clock = clock
    this.#heartbeats = this.#sendHeartbeats()
  }

  /** Former holders whose lock was removed, and who may not have noticed it yet. */
  get revoked(): LockHolder[] {
    return this.#revoked
  }

  /**
   * Returns whether a call that takes up to `callMs` may be sent now. Valid only until the next
   * `await`.
   */
  check(callMs: number): Clearance {
    if (this.#loss !== null) return { refused: this.#loss }
    const leftMs = leaseMs - this.#measureAge(this.#lastHeartbeat)
    if (leftMs <= callMs) return { refused: 'the lock is about to expire: its heartbeats failed' }
    return this.#measureAge(this.#lastLook) < maxLookAgeMs ? 'clear' : 'look'
  }

  /** Looks at the lock. Never fails: a failed look only leaves the last one to get older. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Forgets the former holders: they have noticed. */
  async dropRevoked(): Promise<void> {
    await this.#dropRevoked?.()
    this.#revoked = []
    if (this.#dropRevoked === undefined) await this.#sendNextHeartbeat()
  }

  /**
   * Releases the lock, if it is still in use by this process.
   *
   * @throws EdgewiseError `record-unreachable`; the lock then ends with its lease
   */
  async release(): Promise<void> {
    this.#released.abort()
    await this.#heartbeats
    await this.#beating
    const leave = () => leaveLock(this.#register, this.#holder.token)
    await (this.#loss === null ? leave() : ignoreFailure(leave))
  }

  #measureAge(last: LockMoment): number {
    return measureAge(last, readMoment(this.#machine, this.#clock))
  }

  async #look(): Promise<void> {
    const start = readMoment(this.#machine, this.#clock)
    await ignoreFailure(async () => {
      if ((await this.#findVersion()) !== null) this.#lastLook = start
    })
  }

  async #sendHeartbeats(): Promise<void> {
    while (this.#loss === null) {
      await this.#clock.sleep(heartbeatMs, this.#released.signal, 'lock-beat')
      if (this.#released.signal.aborted) return
      await this.#sendNextHeartbeat()
    }
  }

  /**
   * Sends a heartbeat after the one under way. If it fails, the lease runs out, and the next one
   * may succeed until then.
   */
  #sendNextHeartbeat(): Promise<void> {
    this.#beating = this.#beating.then(() => ignoreFailure(() => this.#sendHeartbeat()))
    return this.#beating
  }

  async #sendHeartbeat(): Promise<void> {
    if (this.#loss !== null) return
    const start = readMoment(this.#machine, this.#clock)
    const revoked = this.#dropRevoked === undefined ? this.#revoked : []
    const state = { holder: this.#holder, revoked }
    const next = await this.#register.compareAndSwap(this.#version, formatLock(state, ++this.#beat))
    // An earlier heartbeat may have been stored although no answer came.
    const version = next ?? (await this.#findVersion())
    if (version === null) return
    this.#version = version
    this.#lastLook = start
    if (next !== null) this.#lastHeartbeat = start
  }

  /** Returns the version if the lock is still in use by this process; null if it is lost. */
  async #findVersion(): Promise<string | null> {
    const { version, text } = await this.#register.read()
    if (parseLock(text).holder?.token === this.#holder.token) return version
    this.#loss ??= explainLockLoss({ version, text }, this.#register.location)
    return null
  }
}

async function ignoreFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
}

/**
 * Ends the use of a lock that `token` identifies, or removes the mark of its removal: everything
 * that its holder sent has ended.
 */
async function leaveLock(register: Register, token: string): Promise<void> {
  for (;;) {
    const { version, text } = await register.read()
    const { holder, revoked } = parseLock(text)
    const isOwn = holder?.token === token
    const others = revoked.filter((mark) => mark.token !== token)
    // Another holder waits for all marks that it has found.
    if (!isOwn && (holder !== null || others.length === revoked.length)) return
    const rest = formatLock({ holder: null, revoked: others }, 0)
    // A heartbeat of the holder may come between.
    if ((await register.compareAndSwap(version, rest)) !== null) return
  }
}
