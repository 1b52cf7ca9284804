import type { LockFile } from '../generated/state-types.ts'
import type { Clock } from '../model/clock.ts'
import { isObject } from '../model/json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { parseJson } from '../model/json.ts'
import type { Register } from './register.ts'

/** Lease of a lock, ms: a holder without heartbeat counts as alive for this long. */
export const leaseMs = 90_000
const heartbeatMs = leaseMs / 5
const pollMs = 1000

/** The holder of a lock. */
export interface LockHolder {
  /** Identifies this use of the lock; unique. */
  token: string
  /** User and machine. */
  who: string
  reason: string
  /** ISO 8601. */
  since: string
  /** Boot and process namespace of the machine, within which `pid` is meaningful. */
  boot: string
  namespace: string
  pid: number
}

/** A lock in use by this process. */
export interface Lease {
  /** Time until the lease ends if no further heartbeat is seen, ms; 0 if the lock is lost. */
  remainingMs(): Promise<number>
  /**
   * Releases the lock, if it is still in use by this process.
   *
   * @throws EdgewiseError `record-unreachable`; the lock then ends with its lease
   */
  release(): Promise<void>
}

/** Clock for judging a lease, ms; never set. */
export interface LockClock {
  monotonic(): number
  sleep: Clock['sleep']
}

/** The machine of a process, and the process itself. */
export interface Machine {
  /** Id of this boot of the machine; empty if the system reports none. */
  boot: string
  /** Id of the process namespace; empty if the system reports none. */
  namespace: string
  pid: number
  /** Time since its boot, ms, including the time asleep, which a monotonic clock may omit. */
  uptime(): number
  /** Identifies this process among all that may write to the same folder. */
  processName: string
  isRunning(pid: number): boolean
}

/**
 * Acquires the lock, waiting for it up to `timeoutMs`. A stale lock of a dead process on this
 * machine is taken over immediately. Any other lock is taken over only after the contender has seen
 * no heartbeat for the whole lease, by its own clock.
 *
 * @param onWait called once if the lock is not free at once
 * @throws EdgewiseError `locked`, naming the holder
 */
export async function acquireLock(
  register: Register,
  holder: LockHolder,
  machine: Machine,
  timeoutMs: number,
  clock: LockClock,
  signal: AbortSignal,
  onWait?: (other: LockHolder | null, timeoutMs: number) => void,
): Promise<Lease> {
  const start = clock.monotonic()
  let isReported = false
  let [sign, since]: [string | null, number] = [null, start]
  for (;;) {
    const { version, text } = await register.read()
    const other = text === null ? null : parseHolder(text)
    if (version !== sign) [sign, since] = [version, clock.monotonic()]
    if (other === null || isStale(other, machine) || clock.monotonic() - since >= leaseMs) {
      const acquiredAt = readMoment(machine, clock)
      const own = await register.compareAndSwap(version, formatHolder(holder, 0))
      if (own !== null) return new LockLease(register, holder, own, acquiredAt, machine, clock)
    }
    if (signal.aborted || clock.monotonic() - start >= timeoutMs)
      throw createLockedError(other, register, timeoutMs)
    if (!isReported) onWait?.(other, timeoutMs)
    isReported = true
    await clock.sleep(Math.min(pollMs, timeoutMs - (clock.monotonic() - start)), signal)
  }
}

/** Returns the lock holder, or null. */
export async function findLockHolder(register: Register): Promise<LockHolder | null> {
  const { text } = await register.read()
  return text === null ? null : parseHolder(text)
}

/** Ends the use of the lock that `token` identifies; false if it has ended already. */
export async function endLock(register: Register, token: string): Promise<boolean> {
  for (;;) {
    const { version, text } = await register.read()
    if (text === null || parseHolder(text).token !== token) return false
    // A heartbeat of the holder may come between.
    if ((await register.compareAndSwap(version, null)) !== null) return true
  }
}

/** Time since the boot of the machine, ms: without and with the time asleep. */
interface Moment {
  monotonicMs: number
  uptimeMs: number
}

function readMoment(machine: Machine, clock: LockClock): Moment {
  return { monotonicMs: clock.monotonic(), uptimeMs: machine.uptime() }
}

/** A lock in use by this process: it sends heartbeats until it is released. */
class LockLease implements Lease {
  readonly #register: Register
  readonly #holder: LockHolder
  readonly #machine: Machine
  readonly #clock: LockClock
  readonly #released = new AbortController()
  readonly #heartbeats: Promise<void>
  #version: string
  #lastHeartbeat: Moment
  #lost = false

  constructor(
    register: Register,
    holder: LockHolder,
    version: string,
    acquiredAt: Moment,
    machine: Machine,
    clock: LockClock,
  ) {
    this.#register = register
    this.#holder = holder
    this.#version = version
    this.#lastHeartbeat = acquiredAt
    this.#machine = machine
    this.#clock = clock
    this.#heartbeats = this.#sendHeartbeats()
  }

  async remainingMs(): Promise<number> {
    if (!this.#lost && this.#register.isLocal && (await this.#findVersion()) === null)
      this.#lost = true
    if (this.#lost) return 0
    const [now, last] = [readMoment(this.#machine, this.#clock), this.#lastHeartbeat]
    // Others saw no heartbeat while this machine was asleep; some systems report that time in whole
    // seconds only.
    return leaseMs - Math.max(now.monotonicMs - last.monotonicMs, now.uptimeMs - last.uptimeMs)
  }

  async release(): Promise<void> {
    this.#released.abort()
    await this.#heartbeats
    if (!this.#lost) await endLock(this.#register, this.#holder.token)
  }

  async #sendHeartbeats(): Promise<void> {
    for (let beat = 1; !this.#lost; beat++) {
      await this.#clock.sleep(heartbeatMs, this.#released.signal, 'lock-beat')
      if (this.#released.signal.aborted) return
      try {
        await this.#sendHeartbeat(beat)
      } catch (error) {
        // Any failure of a heartbeat: the lease runs out, and the next heartbeat may succeed until
        // then.
        if (!(error instanceof Error)) throw error
      }
    }
  }

  async #sendHeartbeat(beat: number): Promise<void> {
    const start = readMoment(this.#machine, this.#clock)
    const next = await this.#register.compareAndSwap(
      this.#version,
      formatHolder(this.#holder, beat),
    )
    // An earlier heartbeat may have been stored although no answer came.
    const version = next ?? (await this.#findVersion())
    if (version === null) {
      this.#lost = true
      return
    }
    this.#version = version
    if (next !== null) this.#lastHeartbeat = start
  }

  /** Returns the version if the lock is still in use by this process; null if it is lost. */
  async #findVersion(): Promise<string | null> {
    const { version, text } = await this.#register.read()
    return text !== null && parseHolder(text).token === this.#holder.token ? version : null
  }
}

function isStale(holder: LockHolder, machine: Machine): boolean {
  const here =
    holder.boot !== '' && holder.boot === machine.boot && holder.namespace === machine.namespace
  return here && !machine.isRunning(holder.pid)
}

function formatHolder(holder: LockHolder, beat: number): string {
  const file: LockFile = { ...holder, beat }
  return `${JSON.stringify(file)}\n`
}

/** Parses a lock holder. An unreadable text counts as a holder too: some process wrote it. */
function parseHolder(value: string): LockHolder {
  const parsed = parseJson(value)
  const data = parsed !== undefined && isObject(parsed) ? parsed : {}
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : '')
  return {
    token: text('token'),
    who: text('who') || 'an unknown user',
    reason: text('reason') || 'no reason given',
    since: text('since') || 'an unknown time',
    boot: text('boot'),
    namespace: text('namespace'),
    pid: typeof data['pid'] === 'number' ? data['pid'] : 0,
  }
}

function createLockedError(
  other: LockHolder | null,
  register: Register,
  timeoutMs: number,
): EdgewiseError {
  const who = other === null ? `another process (${register.location})` : formatLockHolder(other)
  const waited =
    timeoutMs === 0
      ? 'Wait for it with --lock-timeout SECONDS'
      : 'Wait longer with --lock-timeout SECONDS'
  return new EdgewiseError(
    'locked',
    `the state is locked by ${who}`,
    `${waited}; if that process has ended, remove the lock with "edgewise state unlock".`,
  )
}

/** Formats a lock holder. */
export function formatLockHolder({ who, pid, since, reason }: LockHolder): string {
  return `${who} (process ${pid}, since ${since}, ${reason})`
}
