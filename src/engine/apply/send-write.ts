import { isDelete, isSafeToRepeat, type Write } from '../../core/model/change.ts'
import { interrupted, type Outcome } from '../../core/model/outcome.ts'
import { holdsSecret, type SecretPort } from '../../core/model/secret.ts'
import { getSpan, type Tracer } from '../../core/model/tracing.ts'
import { formatLocalTime } from '../../core/model/text/words.ts'
import type { CallBudget } from '../../service/write/call-budget.ts'
import type { BudgetWait } from '../../service/write/next-call.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Client } from '../../service/write/client.ts'
import type { Lease } from '../../state/locks/lease.ts'

const maxUnreached = 5
const maxInDoubt = 3
const maxThrottled = 10
const maxLooks = 5
const lookPauseMs = 1000
/** Shorter waits for the call budget are not in the trace. */
const minTracedSeconds = 0.1

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
  lease: Pick<Lease, 'check' | 'look'>
  /** Aborted when the apply is to end: calls in flight are finished, nothing new begins. */
  signal: AbortSignal
  /** Called before each wait for another attempt, and before a wait for the call budget. */
  onWait(ms: number, why: string): void
  /** Records traces; absent: there are none. */
  tracer?: Tracer
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
  const call = createCall(write, sending)
  const repeatable = Object.values(write.items).every((form) => isSafeToRepeat(form.name))
  let [unreachedCount, inDoubtCount, throttledCount] = [0, 0, 0]
  // Once an attempt may have taken effect, only a certain answer resolves the doubt.
  let doubt: Sent['outcome'] | null = null
  const end = (message: string): Sent => ({
    outcome: doubt ?? { kind: 'not sent', message },
    doubted: doubt !== null,
  })
  const reportWait = (wait: BudgetWait) => sending.onWait(wait.ms, explainBudgetWait(wait))
  for (;;) {
    if (!(await acquireCall(sending, reportWait))) {
      return end(sending.signal.aborted ? explainAbort(sending.signal) : explainLongWait(sending))
    }
    // A call that outlives the lock could take effect during another apply. Nothing may come
    // between the last check and the call, not even an `await`.
    let clearance = sending.lease.check(sending.timeoutMs)
    for (let looks = 0; clearance === 'look' && looks < maxLooks; looks++) {
      if (looks > 0) await sending.clock.sleep(lookPauseMs, sending.signal)
      await sending.lease.look()
      clearance = sending.lease.check(sending.timeoutMs)
    }
    if (clearance !== 'clear') {
      await sending.budget.release(false)
      return end(clearance === 'look' ? unseen : clearance.refused)
    }
    const outcome = await call()
    await sending.budget.release(
      outcome.kind !== 'not sent',
      'limits' in outcome ? outcome.limits : undefined,
    )
    const isFull =
      outcome.kind === 'refused' &&
      outcome.limits.remaining === 0 &&
      throttledCount === 0 &&
      !outcome.fatal
    let waitMs: number
    if (outcome.kind === 'throttled' || isFull) {
      throttledCount++
      // A refusal proves that nothing was saved only if the write had one domain.
      if (isFull && write.domains.length > 1) doubt = { kind: 'in-doubt', message: outcome.message }
      if (throttledCount >= maxThrottled) return end(outcome.message)
      waitMs =
        (outcome.kind === 'throttled' ? outcome.retryAfterMs : outcome.limits.resetMs) ??
        computeUnreportedMs(sending) ??
        computeBackOff(throttledCount, sending)
      if (waitMs > sending.budget.maxWaitMs) {
        const why = explainUsedUp(sending) ?? 'the wait exceeds limits.maxWaitSeconds'
        return end(`${outcome.message} (${why})`)
      }
    } else if (outcome.kind === 'not sent') {
      unreachedCount++
      if (unreachedCount >= maxUnreached) return end(outcome.message)
      waitMs = computeBackOff(unreachedCount, sending)
    } else if (outcome.kind === 'in-doubt') {
      inDoubtCount++
      doubt = outcome
      if (!repeatable || inDoubtCount >= maxInDoubt) return { outcome, doubted: true }
      waitMs = Math.max(sending.settleMs, computeBackOff(inDoubtCount, sending))
    } else {
      return { outcome, doubted: doubt !== null }
    }
    if (sending.signal.aborted) return end(explainAbort(sending.signal))
    sending.onWait(waitMs, outcome.message)
    getSpan(sending.tracer)?.addEvent('retry', {
      'edgewise.retry.reason': outcome.kind,
      'edgewise.wait.seconds': waitMs / 1000,
    })
    await sending.clock.sleep(waitMs, sending.signal)
  }
}

/** Creates the call of a write, with the values of its secrets. */
function createCall(write: Write, { client, secrets }: Sending): () => Promise<Outcome> {
  if (isDelete(write)) return () => client.unset(write.domains, Object.keys(write.items))
  const config = Object.fromEntries(
    Object.entries(write.items).map(([item, form]) => [item, secrets.reveal(form.payload)]),
  )
  const hasSecret = Object.values(write.items).some((form) => holdsSecret(form.payload))
  return () => client.write(write.domains, config, hasSecret)
}

/** Waits for the call budget, and adds the wait to the trace. */
async function acquireCall(
  { budget, clock, signal, tracer }: Sending,
  reportWait: (wait: BudgetWait) => void,
): Promise<boolean> {
  const startMs = clock.monotonic()
  const isFree = await budget.acquire(signal, reportWait)
  const seconds = (clock.monotonic() - startMs) / 1000
  if (seconds >= minTracedSeconds)
    getSpan(tracer)?.addEvent('call budget wait', { 'edgewise.wait.seconds': seconds })
  return isFree
}

function explainBudgetWait({ used, windowMs, period }: BudgetWait): string {
  if (period !== null)
    return `the call budget is used up: the service allows no more calls in this ${period}`
  const window = windowMs === 60_000 ? 'this minute' : `${windowMs / 1000} s (limits.burst)`
  return `the call budget is used up: ${used} calls in ${window}`
}

function explainLongWait(sending: Sending): string {
  const { budget, clock } = sending
  const end = formatLocalTime(clock.now() + (budget.computeWaitMs() ?? 0))
  const reason = budget.hasLateCalls() ? ': calls of an apply that died may still arrive' : ''
  return (
    explainUsedUp(sending) ??
    `the call budget allows the next call at ${end}, later than limits.maxWaitSeconds${reason}`
  )
}

/** Explains that the service allows no more calls in this hour or day; null if it does. */
function explainUsedUp({ budget, clock }: Sending): string | null {
  const usedUp = budget.findUsedUp()
  if (usedUp === null || usedUp.period === 'minute') return null
  const { period, untilMs, isReported } = usedUp
  const end = formatLocalTime(clock.now() + untilMs - clock.monotonic())
  const reset = isReported
    ? `at ${end}, later than limits.maxWaitSeconds`
    : `within a${period === 'hour' ? 'n' : ''} ${period}: it did not report when`
  return `the service allows no more calls in this ${period}; its count resets ${reset}`
}

/** Computes how long an hour or a day may last whose end is not reported, ms; null for neither. */
function computeUnreportedMs({ budget, clock }: Sending): number | null {
  const usedUp = budget.findUsedUp()
  return usedUp === null || usedUp.period === 'minute' ? null : usedUp.untilMs - clock.monotonic()
}

const unseen = 'the lock could not be checked within 5 seconds: its store is unreachable or slow'

/** Returns the reason of an abort, by default `interrupted`. */
export function explainAbort(signal: AbortSignal): string {
  return typeof signal.reason === 'string' ? signal.reason : interrupted
}

/** Computes a back-off: 1, 2, 4 … seconds, at most a minute, with jitter in its upper half. */
function computeBackOff(attempt: number, sending: Sending): number {
  return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * (0.5 + sending.random() / 2)
}
