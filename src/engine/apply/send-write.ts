import { isDelete, isSafeToRepeat, type Write } from '../../core/model/change.ts'
import { interrupted, type EndReason, type Outcome } from '../../core/model/outcome.ts'
import { listSecrets, type SecretPort } from '../../core/model/secret.ts'
import { getSpan } from '../../core/model/telemetry.ts'
import { formatEnd } from '../../core/model/text/words.ts'
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
}

/**
 * Last outcome of a write; `doubted`: one of its attempts may have taken effect without an answer.
 */
export interface Sent {
  outcome: Exclude<Outcome, { kind: 'throttled' }>
  doubted: boolean
}

/** Attempts of a write so far. */
export interface Attempts {
  unreached: number
  inDoubt: number
  throttled: number
  /** Once an attempt may have taken effect, only a certain answer resolves the doubt. */
  doubt: Extract<Outcome, { kind: 'in-doubt' }> | null
}

/** The next step after an attempt: another one after a wait in ms, or the end. */
export type Step = { waitMs: number; why: string; attempts: Attempts } | { sent: Sent }

/** Limits and times that decide whether a write is sent again; times in ms. */
export interface RetryLimits {
  maxWaitMs: number
  settleMs: number
  /** Computes the wait before an attempt, by the number of those before it. */
  backOff(count: number): number
  /** Returns the length, ms, of an hour or a day without calls left; null for neither. */
  unreportedMs(): number | null
  /** Explains that the service allows no more calls in this hour or day; null if it does. */
  usedUp(): string | null
}

/**
 * Sends a write until its outcome is certain or no further attempt is allowed. Unsent and throttled
 * calls are retried; an in-doubt call only if each of its forms is safe to repeat, and only once a
 * late effect is impossible.
 */
export async function sendWrite(write: Write, sending: Sending): Promise<Sent> {
  const { budget, clock, lease, signal, timeoutMs } = sending
  const call = createCall(write, sending)
  const limits = createRetryLimits(sending)
  const reportWait = (wait: BudgetWait) => sending.onWait(wait.ms, explainBudgetWait(wait))
  let attempts: Attempts = { unreached: 0, inDoubt: 0, throttled: 0, doubt: null }
  for (;;) {
    if (!(await acquireCall(sending, reportWait)))
      return endUnsent(
        attempts,
        signal.aborted ? explainAbort(signal) : { message: explainLongWait(sending) },
      )
    // A call that outlives the lock could take effect during another apply. Nothing may come
    // between the last check and the call, not even an `await`.
    let clearance = lease.check(timeoutMs)
    for (let looks = 0; clearance === 'look' && looks < maxLooks; looks++) {
      if (looks > 0) await clock.sleep(lookPauseMs, signal)
      await lease.look()
      clearance = lease.check(timeoutMs)
    }
    if (clearance !== 'clear') {
      await budget.release(false)
      return endUnsent(attempts, {
        message: clearance === 'look' ? unseen : clearance.refused,
      })
    }
    const outcome = await call()
    await budget.release(
      outcome.kind !== 'not sent',
      'limits' in outcome ? outcome.limits : undefined,
    )
    const step = decideStep(write, outcome, attempts, limits)
    if ('sent' in step) return step.sent
    attempts = step.attempts
    if (signal.aborted) return endUnsent(attempts, explainAbort(signal))
    sending.onWait(step.waitMs, step.why)
    getSpan()?.addEvent('retry', {
      'edgewise.retry.reason': outcome.kind,
      'edgewise.wait.seconds': step.waitMs / 1000,
    })
    await clock.sleep(step.waitMs, signal)
  }
}

function endUnsent({ doubt }: Attempts, reason: EndReason): Sent {
  return { outcome: doubt ?? { kind: 'not sent', ...reason }, doubted: doubt !== null }
}

/** Decides what follows an outcome of a call, by the attempts before it. */
export function decideStep(
  write: Write,
  outcome: Outcome,
  before: Attempts,
  limits: RetryLimits,
): Step {
  if (outcome.kind === 'not sent') {
    const attempts = { ...before, unreached: before.unreached + 1 }
    if (attempts.unreached >= maxUnreached) return { sent: endUnsent(attempts, outcome) }
    return { waitMs: limits.backOff(attempts.unreached), why: outcome.message, attempts }
  }
  if (outcome.kind === 'in-doubt') {
    const attempts = { ...before, inDoubt: before.inDoubt + 1, doubt: outcome }
    const isRepeatable = Object.values(write.items).every((form) => isSafeToRepeat(form.name))
    if (!isRepeatable || attempts.inDoubt >= maxInDoubt) return { sent: { outcome, doubted: true } }
    const waitMs = Math.max(limits.settleMs, limits.backOff(attempts.inDoubt))
    return { waitMs, why: outcome.message, attempts }
  }
  if (outcome.kind === 'throttled')
    return waitForLimit(outcome, outcome.retryAfterMs, before, limits)
  const isFull =
    outcome.kind === 'refused' &&
    outcome.limits.remaining === 0 &&
    before.throttled === 0 &&
    !outcome.fatal
  if (!isFull) return { sent: { outcome, doubted: before.doubt !== null } }
  // A refusal proves that nothing was saved only if the write had one domain.
  const { message } = outcome
  const doubt = write.domains.length > 1 ? { kind: 'in-doubt' as const, message } : before.doubt
  return waitForLimit(outcome, outcome.limits.resetMs, { ...before, doubt }, limits)
}

function waitForLimit(
  { message }: { message: string },
  reportedMs: number | null,
  before: Attempts,
  limits: RetryLimits,
): Step {
  const attempts = { ...before, throttled: before.throttled + 1 }
  if (attempts.throttled >= maxThrottled) return { sent: endUnsent(attempts, { message }) }
  const waitMs = reportedMs ?? limits.unreportedMs() ?? limits.backOff(attempts.throttled)
  if (waitMs <= limits.maxWaitMs) return { waitMs, why: message, attempts }
  const why = limits.usedUp() ?? 'the wait exceeds limits.maxWaitSeconds'
  return { sent: endUnsent(attempts, { message: `${message} (${why})` }) }
}

function createRetryLimits(sending: Sending): RetryLimits {
  return {
    maxWaitMs: sending.budget.maxWaitMs,
    settleMs: sending.settleMs,
    backOff: (count) => computeBackOff(count, sending),
    unreportedMs: () => computeUnreportedMs(sending),
    usedUp: () => explainUsedUp(sending),
  }
}

/** Creates the call of a write, with the values of its secrets. */
function createCall(write: Write, { client, secrets }: Sending): () => Promise<Outcome> {
  if (isDelete(write)) return () => client.unset(write.domains, Object.keys(write.items))
  const config = Object.fromEntries(
    Object.entries(write.items).map(([item, form]) => [item, secrets.reveal(form.payload)]),
  )
  const own = listSecrets(Object.values(write.items).map(({ payload }) => payload))
  const texts = Array.from(own, ($secret) => String(secrets.reveal({ $secret })))
  return () => client.write(write.domains, config, texts)
}

/** Waits for the call budget, and adds the wait to the trace. */
async function acquireCall(
  { budget, clock, signal }: Sending,
  reportWait: (wait: BudgetWait) => void,
): Promise<boolean> {
  const startMs = clock.monotonic()
  const isFree = await budget.acquire(signal, reportWait)
  const seconds = (clock.monotonic() - startMs) / 1000
  if (seconds >= minTracedSeconds)
    getSpan()?.addEvent('call budget wait', { 'edgewise.wait.seconds': seconds })
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
  const end = formatEnd(clock.now(), budget.computeWaitMs() ?? 0)
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
  const end = formatEnd(clock.now(), untilMs - clock.monotonic())
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

/** Returns the reason of an abort; without a text it is an interrupt. */
export function explainAbort(signal: AbortSignal): EndReason {
  const { reason } = signal
  return typeof reason === 'string'
    ? { message: reason }
    : { message: interrupted, interrupted: true }
}

/** Computes a back-off: 1, 2, 4 … seconds, at most a minute, with jitter in its upper half. */
function computeBackOff(attempt: number, sending: Sending): number {
  return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * (0.5 + sending.random() / 2)
}
