import type { LockFile } from '../generated/state-types.ts'
import type { Clock } from '../model/clock.ts'
import { isObject } from '../model/json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { parseJson } from '../model/json.ts'
import type { Register } from './register.ts'

/** How long a holder that gives no sign is taken to live. */
export const leaseMs = 90_000
const beatMs = leaseMs / 5
const lookEveryMs = 1000

/** Who holds a lock. */
export interface LockHolder {
  /** Names this holding; no two are alike. */
  token: string
  /** User and machine. */
  who: string
  reason: string
  /** ISO 8601. */
  since: string
  /** The machine's boot and process namespace, within which `pid` means something. */
  boot: string
  namespace: string
  pid: number
}

/** A lock that is held. */
export interface Lease {
  /** How long it surely holds on if nothing more is heard of the holder, ms; 0 when it is lost. */
  remainingMs(): Promise<number>
  /**
   * Gives the lock back, if it is still held.
   *
   * @throws EdgewiseError `record-unreachable`; it then ends with its lease
   */
  release(): Promise<void>
}

/** What a contender judges a lease with: a clock that nobody sets, in ms. */
export interface LockClock {
  monotonic(): number
  sleep: Clock['sleep']
}

/** The machine that a process runs on, and the process itself. */
export interface Machine {
  /** Of this boot of the machine; empty where the system does not say. */
  boot: string
  /** Of the processes that see each other; empty where the system does not say. */
  namespace: string
  pid: number
  /**
   * Since its boot, ms; the time that it was asleep counts, as it does not by a monotonic clock.
   */
  uptime(): number
  /** Names this process among all that may write to the same folder. */
  processName: string
  isRunning(pid: number): boolean
}

/**
 * Takes the lock, waiting for it up to `timeoutMs`. A holder that ran on this machine and no longer
 * runs is succeeded at once; any other only after it was seen to give no sign for the whole lease,
 * by the contender's own clock.
 *
 * @throws EdgewiseError `locked`, naming the holder
 */
export async function acquireLock(
  register: Register,
  holder: LockHolder,
  machine: Machine,
  timeoutMs: number,
  clock: LockClock,
  signal: AbortSignal,
): Promise<Lease> {
  const start = clock.monotonic()
  let [sign, since]: [string | null, number] = [null, start]
  for (;;) {
    const { version, text } = await register.read()
    const other = text === null ? null : holderIn(text)
    if (version !== sign) [sign, since] = [version, clock.monotonic()]
    if (other === null || isDead(other, machine) || clock.monotonic() - since >= leaseMs) {
      const taken = momentOf(machine, clock)
      const own = await register.compareAndSwap(version, textOf(holder, 0))
      if (own !== null) return new Holding(register, holder, own, taken, machine, clock)
    }
    if (signal.aborted || clock.monotonic() - start >= timeoutMs)
      throw locked(other, register, timeoutMs)
    await clock.sleep(Math.min(lookEveryMs, timeoutMs - (clock.monotonic() - start)), signal)
  }
}

/** Who holds the lock, or null. */
export async function findLockHolder(register: Register): Promise<LockHolder | null> {
  const { text } = await register.read()
  return text === null ? null : holderIn(text)
}

/** Ends a holding; false when it has ended before, or another one has begun. */
export async function endLock(register: Register, token: string): Promise<boolean> {
  for (;;) {
    const { version, text } = await register.read()
    if (text === null || holderIn(text).token !== token) return false
    // A beat of the holder may come between.
    if ((await register.compareAndSwap(version, null)) !== null) return true
  }
}

/** Since the machine's boot, without and with the time that it was asleep, ms. */
interface Moment {
  awake: number
  all: number
}

function momentOf(machine: Machine, clock: LockClock): Moment {
  return { awake: clock.monotonic(), all: machine.uptime() }
}

/** A lock that this process holds: its beat goes on until it is released. */
class Holding implements Lease {
  readonly #register: Register
  readonly #holder: LockHolder
  readonly #machine: Machine
  readonly #clock: LockClock
  readonly #released = new AbortController()
  readonly #beating: Promise<void>
  #version: string
  #lastBeat: Moment
  #lost = false

  constructor(
    register: Register,
    holder: LockHolder,
    version: string,
    taken: Moment,
    machine: Machine,
    clock: LockClock,
  ) {
    this.#register = register
    this.#holder = holder
    this.#version = version
    this.#lastBeat = taken
    this.#machine = machine
    this.#clock = clock
    this.#beating = this.#beat()
  }

  async remainingMs(): Promise<number> {
    if (!this.#lost && this.#register.isLocal && (await this.#current()) === null) this.#lost = true
    if (this.#lost) return 0
    const [now, last] = [momentOf(this.#machine, this.#clock), this.#lastBeat]
    // Others saw no sign while this machine was asleep; some systems tell that time in whole
    // seconds only.
    return leaseMs - Math.max(now.awake - last.awake, now.all - last.all)
  }

  async release(): Promise<void> {
    this.#released.abort()
    await this.#beating
    if (!this.#lost) await endLock(this.#register, this.#holder.token)
  }

  async #beat(): Promise<void> {
    for (let beat = 1; !this.#lost; beat++) {
      await this.#clock.sleep(beatMs, this.#released.signal, 'lock-beat')
      if (this.#released.signal.aborted) return
      try {
        await this.#once(beat)
      } catch (error) {
        // Whatever keeps the beat from being seen: the lease runs out, and until then the next one
        // may get through.
        if (!(error instanceof Error)) throw error
      }
    }
  }

  async #once(beat: number): Promise<void> {
    const start = momentOf(this.#machine, this.#clock)
    const next = await this.#register.compareAndSwap(this.#version, textOf(this.#holder, beat))
    // An earlier beat may have been put though no answer came.
    const version = next ?? (await this.#current())
    if (version === null) {
      this.#lost = true
      return
    }
    this.#version = version
    if (next !== null) this.#lastBeat = start
  }

  /** The version if the lock is still held; null when it is lost. */
  async #current(): Promise<string | null> {
    const { version, text } = await this.#register.read()
    return text !== null && holderIn(text).token === this.#holder.token ? version : null
  }
}

function isDead(holder: LockHolder, machine: Machine): boolean {
  const here =
    holder.boot !== '' && holder.boot === machine.boot && holder.namespace === machine.namespace
  return here && !machine.isRunning(holder.pid)
}

function textOf(holder: LockHolder, beat: number): string {
  const file: LockFile = { ...holder, beat }
  return `${JSON.stringify(file)}\n`
}

/** Who a text names. What can't be read is a holder too: somebody put it there. */
function holderIn(value: string): LockHolder {
  const parsed = parseJson(value)
  const data = parsed !== undefined && isObject(parsed) ? parsed : {}
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : '')
  return {
    token: text('token'),
    who: text('who') || 'somebody unknown',
    reason: text('reason') || 'no reason given',
    since: text('since') || 'an unknown time',
    boot: text('boot'),
    namespace: text('namespace'),
    pid: typeof data['pid'] === 'number' ? data['pid'] : 0,
  }
}

function locked(other: LockHolder | null, register: Register, timeoutMs: number): EdgewiseError {
  const who =
    other === null
      ? `another process that was faster (${register.location})`
      : formatLockHolder(other)
  const waited =
    timeoutMs === 0
      ? 'Wait for it with --lock-timeout SECONDS'
      : 'Wait longer with --lock-timeout SECONDS'
  return new EdgewiseError(
    'locked',
    `the record is locked by ${who}`,
    `${waited}; if that process is gone for good, "edgewise state unlock" ends it.`,
  )
}

/** A holder in words. */
export function formatLockHolder({ who, pid, since, reason }: LockHolder): string {
  return `${who} (process ${pid}, since ${since}, ${reason})`
}
