import { safeToRepeat, type Write } from '../model/change.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Wire } from '../model/item.ts'
import type { CallBudget, Clock } from '../service/call-budget.ts'
import type { Client } from '../service/client.ts'

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
  /** The payload with the values of its secrets. */
  reveal(payload: Wire): Wire
  /** Aborted when the user interrupts: what is under way is finished, nothing new is begun. */
  signal: AbortSignal
  /** Told before every wait of a second and more. */
  waiting(ms: number, why: string): void
}

/** The last outcome of a write, and whether any of its attempts may have taken effect unseen. */
export interface Sent {
  outcome: Exclude<Outcome, { kind: 'throttled' }>
  doubted: boolean
}

/**
 * Sends a write until its outcome is certain or no further attempt is allowed: what never left and what was throttled is
 * sent again; what is in doubt only if each of its forms is safe to repeat, and no sooner than it may have landed late.
 */
export async function sendWrite(write: Write, sending: Sending): Promise<Sent> {
  const config = Object.fromEntries(Object.entries(write.items).map(([item, form]) => [item, sending.reveal(form.payload)]))
  const repeatable = Object.values(write.items).every((form) => safeToRepeat(form.name))
  let [unreached, doubtful, throttled] = [0, 0, 0]
  let last: Sent['outcome'] = { kind: 'not sent', message: 'the apply ended before its turn' }
  for (;;) {
    if (!(await sending.budget.take(sending.signal))) {
      const message = sending.signal.aborted ? 'interrupted' : 'the wait for the call budget is over limits.maxWaitSeconds'
      return { outcome: doubtful > 0 ? last : { kind: 'not sent', message }, doubted: doubtful > 0 }
    }
    const outcome = await sending.client.write(write.domains, config)
    sending.budget.give(outcome.kind !== 'not sent', 'limits' in outcome ? outcome.limits : undefined)
    const full = outcome.kind === 'refused' && outcome.limits.remaining === 0 && throttled === 0 && !outcome.fatal
    if (outcome.kind === 'throttled' || full) {
      throttled++
      last = { kind: 'not sent', message: outcome.message }
      if (throttled >= mostThrottled) return { outcome: last, doubted: doubtful > 0 }
      const hinted = outcome.kind === 'throttled' ? outcome.retryAfterMs : outcome.limits.resetMs
      await wait(sending, hinted ?? backOff(throttled, sending), outcome.message)
    } else if (outcome.kind === 'not sent') {
      unreached++
      if (doubtful === 0) last = outcome
      if (unreached >= mostUnreached) return { outcome: last, doubted: doubtful > 0 }
      await wait(sending, backOff(unreached, sending), outcome.message)
    } else if (outcome.kind === 'in doubt') {
      doubtful++
      last = outcome
      if (!repeatable || doubtful >= mostDoubtful) return { outcome, doubted: true }
      await wait(sending, Math.max(sending.settleMs, backOff(doubtful, sending)), outcome.message)
    } else {
      return { outcome, doubted: doubtful > 0 }
    }
  }
}

/** 1, 2, 4 … seconds, at most a minute, each spread over its whole length so that runners part. */
function backOff(attempt: number, sending: Sending): number {
  return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * (0.5 + sending.random() / 2)
}

async function wait(sending: Sending, ms: number, why: string): Promise<void> {
  sending.waiting(ms, why)
  await sending.clock.sleep(ms, sending.signal)
}
