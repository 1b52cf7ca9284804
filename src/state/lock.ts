import { EdgewiseError } from '../model/edgewise-error.ts'

/** How long a holder that gives no sign is taken to live. */
export const leaseMs = 90_000
const lookEveryMs = 1000

/** Who holds a lock. */
export interface Holder {
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
  leftMs(): number
  release(): Promise<void>
}

export interface LockClock {
  now(): number
  monotonic(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** One apply at a time for an account. */
export interface Lock {
  readonly location: string
  read(): Holder | null
  /** What the holder changes while it lives; null when it never did. */
  beat(token: string): string | null
  /** Takes the lock if nobody holds it. */
  take(holder: Holder, clock: LockClock): Lease | null
  /** Takes it from a holder that is gone; null when another successor was faster. */
  succeed(former: Holder, holder: Holder, clock: LockClock): Lease | null
  /** Ends somebody's holding without taking it. */
  remove(former: Holder): void
}

/** What a contender knows of the machine it runs on. */
export interface Machine {
  boot: string
  namespace: string
  runs(pid: number): boolean
}

/**
 * Takes the lock, waiting for it up to `timeoutMs`. A holder that ran on this machine and no longer runs is succeeded at
 * once; any other only after it was seen to give no sign for the whole lease, by the contender's own clock.
 *
 * @throws EdgewiseError `locked`, naming the holder
 */
export async function acquire(
  lock: Lock,
  holder: Holder,
  machine: Machine,
  timeoutMs: number,
  clock: LockClock,
  signal: AbortSignal,
): Promise<Lease> {
  const start = clock.monotonic()
  let [sign, since] = ['', start]
  for (;;) {
    const lease = lock.take(holder, clock)
    if (lease !== null) return lease
    const other = lock.read()
    if (other !== null) {
      const latest = `${other.token} ${lock.beat(other.token) ?? ''}`
      if (latest !== sign) [sign, since] = [latest, clock.monotonic()]
      if (isDead(other, machine) || clock.monotonic() - since >= leaseMs) {
        const succeeded = lock.succeed(other, holder, clock)
        if (succeeded !== null) return succeeded
      }
    }
    if (signal.aborted || clock.monotonic() - start >= timeoutMs) throw locked(other, lock, timeoutMs)
    await clock.sleep(Math.min(lookEveryMs, timeoutMs - (clock.monotonic() - start)), signal)
  }
}

function isDead(holder: Holder, machine: Machine): boolean {
  const here = holder.boot !== '' && holder.boot === machine.boot && holder.namespace === machine.namespace
  return here && !machine.runs(holder.pid)
}

function locked(other: Holder | null, lock: Lock, timeoutMs: number): EdgewiseError {
  const who =
    other === null
      ? `a file that names nobody (${lock.location})`
      : `${other.who} (process ${other.pid}, since ${other.since}, ${other.reason})`
  const waited = timeoutMs === 0 ? 'Wait for it with --lock-timeout SECONDS' : 'Wait longer with --lock-timeout SECONDS'
  return new EdgewiseError(
    'locked',
    `the record is locked by ${who}`,
    `${waited}; if that process is gone for good, "edgewise state unlock" ends it.`,
  )
}
