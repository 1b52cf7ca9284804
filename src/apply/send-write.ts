import { isSafeToRepeat, type Write } from '../model/change.ts'
import type { Outcome } from '../model/outcome.ts'
import type { SecretPort } from '../model/secret-keeper.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { Clock } from '../model/clock.ts'
import type { Client } from '../service/write/client.ts'

const mostUnreached = 5
const mostDoubtful = 3
const mostThrottled = 10

/** Context for sending a write. */
export interface Sending {
  client: Client
  budget: CallBudget
  clock: Clock
  /** In [0, 1); spreads retries. */
  random(): number
  /** Time during which an abandoned call may still take effect, ms. */
  settleMs: number
  secrets: SecretPort
  /** Timeout of a call, ms. */
  timeoutMs: number
  /** Returns the guaranteed rest of the lease, ms. */
  leaseLeftMs(): Promise<number>
  /** Aborted when the apply is to end: calls in flight are finished, nothing new begins. */
  signal: AbortSignal
  /** Called before each wait for another attempt. */
  waiting(ms: number, why: string): void
}

/**
 * Last outcome of a write; `doubted`: one of its attempts may have taken effect without an answer.
 */
export interface Sent {
  outcome: Exclude<Outcome, { kind: 'throttled' }>
  doubted: boolean
}

/**
 * Sends a write until its outcome is certain or no further attempt is allowed. Unsent and throttled
 * calls are retried; an in-doubt call only if each of its forms is safe to repeat, and only once a
 * late effect is impossible.
 */
export async function sendWrite(write: Write, sending: Sending): Promise<Sent> {
  const config = Object.fromEntries(
    Object.entries(write.items).map(([item, form]) => [item, sending.secrets.reveal(form.payload)]),
  )
  const repeatable = Object.values(write.items).every((form) => isSafeToRepeat(form.name))
  let [unreached, doubtful, throttled] = [0, 0, 0]
  // Once an attempt may have taken effect, only a certain answer resolves the doubt.
  let doubt: Sent['outcome'] | null = null
  const ended = (message: string): Sent => ({
    outcome: doubt ?? { kind: 'not sent', message },
    doubted: doubt !== null,
  })
  for (;;) {
    if (!(await sending.budget.acquire(sending.signal))) {
      return ended(
        sending.signal.aborted
          ? explainAbort(sending.signal)
          : 'the wait for the call budget exceeds limits.maxWaitSeconds',
      )
    }
    // A call that outlives the lock could take effect during another apply.
    if ((await sending.leaseLeftMs()) <= sending.timeoutMs) {
      await sending.budget.release(false)
      return ended('the lock was lost, or is about to expire')
    }
    const outcome = await sending.client.write(write.domains, config)
    await sending.budget.release(
      outcome.kind !== 'not sent',
      'limits' in outcome ? outcome.limits : undefined,
    )
    const full =
      outcome.kind === 'refused' &&
      outcome.limits.remaining === 0 &&
      throttled === 0 &&
      !outcome.fatal
    let wait: number
    if (outcome.kind === 'throttled' || full) {
      throttled++
      // A refusal proves that nothing was saved only if the write had one domain.
      if (full && write.domains.length > 1) doubt = { kind: 'in doubt', message: outcome.message }
      if (throttled >= mostThrottled) return ended(outcome.message)
      wait =
        (outcome.kind === 'throttled' ? outcome.retryAfterMs : outcome.limits.resetMs) ??
        backOff(throttled, sending)
      if (wait > sending.budget.maxWaitMs)
        return ended(`${outcome.message} (the wait exceeds limits.maxWaitSeconds)`)
    } else if (outcome.kind === 'not sent') {
      unreached++
      if (unreached >= mostUnreached) return ended(outcome.message)
      wait = backOff(unreached, sending)
    } else if (outcome.kind === 'in doubt') {
      doubtful++
      doubt = outcome
      if (!repeatable || doubtful >= mostDoubtful) return { outcome, doubted: true }
      wait = Math.max(sending.settleMs, backOff(doubtful, sending))
    } else {
      return { outcome, doubted: doubt !== null }
    }
    if (sending.signal.aborted) return ended(explainAbort(sending.signal))
    sending.waiting(wait, outcome.message)
    await sending.clock.sleep(wait, sending.signal)
  }
}

/** Returns the reason of an abort, by default `interrupted`. */
export function explainAbort(signal: AbortSignal): string {
  return typeof signal.reason === 'string' ? signal.reason : 'interrupted'
}

/** Computes a back-off: 1, 2, 4 … seconds, at most a minute, with jitter in its upper half. */
function backOff(attempt: number, sending: Sending): number {
  return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * (0.5 + sending.random() / 2)
}
