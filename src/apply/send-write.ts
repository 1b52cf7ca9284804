import { isSafeToRepeat, type Write } from '../model/change.ts'
import type { Outcome } from '../model/outcome.ts'
import type { SecretPort } from '../model/secret-keeper.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { Clock } from '../model/clock.ts'
import type { Client } from '../service/write/client.ts'

const mostUnreached = 5
const mostDoubtful = 3
const mostThrottled = 10

/** What a write is sent with. */
export interface Sending {
  client: Client
  budget: CallBudget
  clock: Clock
  /** In [0, 1); spreads retries. */
  random(): number
  /** How long a write that was given up may still land, ms. */
  settleMs: number
  secrets: SecretPort
  /** After this long a call is given up, ms. */
  timeoutMs: number
  /** How long the lock surely holds, ms. */
  leaseLeftMs(): Promise<number>
  /** Aborted when the apply is to end: what is under way is finished, nothing new is begun. */
  signal: AbortSignal
  /** Told before every wait for another attempt. */
  waiting(ms: number, why: string): void
}

/** The last outcome of a write, and whether any of its attempts may have taken effect unseen. */
export interface Sent {
  outcome: Exclude<Outcome, { kind: 'throttled' }>
  doubted: boolean
}

/**
 * Sends a write until its outcome is certain or no further attempt is allowed: what never left and
 * what was throttled is sent again; what is in doubt only if each of its forms is safe to repeat,
 * and no sooner than it may have landed late.
 */
export async function sendWrite(write: Write, sending: Sending): Promise<Sent> {
  const config = Object.fromEntries(
    Object.entries(write.items).map(([item, form]) => [item, sending.secrets.reveal(form.payload)]),
  )
  const repeatable = Object.values(write.items).every((form) => isSafeToRepeat(form.name))
  let [unreached, doubtful, throttled] = [0, 0, 0]
  // Once an attempt may have taken effect, only a certain answer ends the doubt.
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
          : 'the wait for the call budget is over limits.maxWaitSeconds',
      )
    }
    // A call that outlives the lock could land in the midst of somebody else's apply.
    if ((await sending.leaseLeftMs()) <= sending.timeoutMs) {
      await sending.budget.release(false)
      return ended('the lock was lost, or is about to be')
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
      // A refusal proves that nothing was saved only for what was sent to one domain.
      if (full && write.domains.length > 1) doubt = { kind: 'in doubt', message: outcome.message }
      if (throttled >= mostThrottled) return ended(outcome.message)
      wait =
        (outcome.kind === 'throttled' ? outcome.retryAfterMs : outcome.limits.resetMs) ??
        backOff(throttled, sending)
      if (wait > sending.budget.maxWaitMs)
        return ended(`${outcome.message} (the wait is over limits.maxWaitSeconds)`)
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

/** Why an apply ends before its time, as whoever ended it says. */
export function explainAbort(signal: AbortSignal): string {
  return typeof signal.reason === 'string' ? signal.reason : 'interrupted'
}

/** 1, 2, 4 … seconds, at most a minute, each spread over its upper half so that runners part. */
function backOff(attempt: number, sending: Sending): number {
  return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * (0.5 + sending.random() / 2)
}
