import { isSafeToRepeat, toPart, type Write } from '../../core/model/change.ts'
import type { NotSentReason } from '../../core/model/events.ts'
import type { EndReason } from '../../core/model/outcome.ts'
import { failSpan, getSpan, inSpan } from '../../core/model/telemetry.ts'
import { attempt, recordItems } from './attempt.ts'
import { bisect } from './bisect.ts'
import { moveCounts, moveWrites, nameCount, type Run, type Settlement } from './run.ts'
import {
  explainError,
  explainPossiblySaved,
  explainUnrecorded,
  reportInDoubt,
} from './report-parts.ts'
import type { Sent } from './send-write.ts'
import { computeSettleWait } from './settling.ts'

/** Sends a write and records its outcome; a refused write is bisected. */
export function executeWrite(write: Write, run: Run): Promise<void> {
  const attributes = {
    'edgewise.write': write.id,
    'edgewise.domains': write.domains.length,
    'edgewise.items': Object.keys(write.items).length,
  }
  return inSpan('write', () => execute(write, run), attributes)
}

async function execute(planned: Write, run: Run): Promise<void> {
  const write = await leaveOutUnknown(planned, run)
  if (write === null) return
  const inDoubtItem = findDeltaInDoubt(write, run)
  if (inDoubtItem !== null) {
    const reason = `an earlier write left ${inDoubtItem} in-doubt`
    const message = `${reason}; only another apply can write the whole item`
    reportNotSent(write, { message }, run)
    return
  }
  const whole = toPart(write)
  const before = new Map(write.domains.map((domain) => [domain, new Map(run.recorded.get(domain))]))
  run.report({ type: 'write.started', id: write.id, ...whole })
  const isBisected = (outcome: Sent['outcome']) => outcome.kind === 'refused' && !outcome.fatal
  const settle = (ended: Sent['outcome'], unsaved: boolean): Settlement => {
    if (isBisected(ended)) return { writes: [], moves: [] }
    const move = moveWrites([write], 'inDoubt', nameCount(ended))
    const parts = ended.kind === 'refused' && !unsaved ? 0 : move.parts
    return { writes: [write.id], moves: [{ ...move, parts }] }
  }
  const { outcome, doubted, isUnsaved, rewritten } = await attempt(
    write,
    before,
    before,
    run,
    settle,
  ).catch((error) => {
    if (run.called.has(write.id)) {
      run.result.sent = true
      reportInDoubt(write.id, [whole], explainUnrecorded(error), run)
    } else reportNotSent(write, { message: explainError(error) }, run)
    throw error
  })
  traceOutcome(outcome)
  const { id } = write
  switch (outcome.kind) {
    case 'confirmed':
      run.report({
        type: 'write.confirmed',
        id,
        rewritten: rewritten.length === 0 ? undefined : rewritten,
      })
      return
    case 'refused':
      run.report({ type: 'write.refused', id, code: outcome.code, message: outcome.message })
      if (isBisected(outcome)) return bisect(write, outcome, doubted, before, run)
      // No part of the write is to blame: the service accepts no call.
      run.stop(outcome)
      if (!isUnsaved) reportInDoubt(write.id, [whole], explainPossiblySaved(doubted), run)
      return
    case 'in-doubt':
      reportInDoubt(write.id, [whole], outcome.message, run)
      return
    case 'not sent':
      run.report(buildNotSent(id, outcome))
      run.stop(outcome)
  }
}

/**
 * Leaves the domains out of a write that the service does not know: an earlier write of this apply
 * has shown it. Returns null if no domain is left.
 */
async function leaveOutUnknown(write: Write, run: Run): Promise<Write | null> {
  const unknown = write.domains.filter((domain) => run.unknownDomains.has(domain))
  if (unknown.length === 0) return write
  const isWhole = unknown.length === write.domains.length
  const move = moveWrites([{ ...write, domains: unknown }], 'inDoubt', 'notSent')
  await recordItems({ domains: [] }, run, () => new Map(), {
    writes: isWhole ? [write.id] : [],
    moves: [{ ...move, writes: isWhole ? 1 : 0 }],
  }).catch((error: unknown) => {
    reportNotSent(write, { message: explainError(error) }, run)
    throw error
  })
  const about = { id: write.id, message: 'left out: the service does not know the domain' }
  if (isWhole) {
    run.report({ type: 'write.not-sent', ...about, reason: 'left-out' })
    return null
  }
  run.report({ type: 'part.not-sent', ...about, ...toPart(write), domains: unknown })
  return { ...write, domains: write.domains.filter((domain) => !unknown.includes(domain)) }
}

/** Adds the outcome of a write to its span, without the message: it may quote a value. */
function traceOutcome(outcome: Sent['outcome']): void {
  const span = getSpan()
  span?.setAttributes({ 'edgewise.outcome': outcome.kind })
  if (outcome.kind === 'confirmed') return
  if (outcome.kind === 'refused' && outcome.code !== null)
    span?.setAttributes({ 'edgewise.service.code': outcome.code })
  failSpan(span, outcome.kind)
}

/** Reports a write that is not sent. */
export function reportNotSent(write: Write, why: EndReason, run: Run): void {
  if (run.begun.has(write.id))
    run.counts = moveCounts(run.counts, [moveWrites([write], 'inDoubt', 'notSent')])
  run.report(buildNotSent(write.id, why))
}

function buildNotSent(id: number, { message, interrupted }: EndReason) {
  const reason: { reason?: NotSentReason } = interrupted === true ? { reason: 'interrupted' } : {}
  return { type: 'write.not-sent' as const, id, message, ...reason }
}

/**
 * Finds an in-doubt item that a write changes by a delta. A delta is right only for the value that
 * it was computed from.
 */
function findDeltaInDoubt({ domains, items }: Write, run: Run): string | null {
  const deltas = Object.entries(items).flatMap(([item, form]) =>
    isSafeToRepeat(form.name) ? [] : [item],
  )
  for (const domain of domains) {
    const item = deltas.find((each) => run.recorded.get(domain)?.get(each)?.status === 'in-doubt')
    if (item !== undefined) return `${item} of ${domain}`
  }
  return null
}

const maxSleepMs = 5000

/** Waits until no earlier call can take effect on the items of a write. */
export async function waitToSettle(write: Write, run: Run): Promise<void> {
  const waitMs = computeSettleWait(write, run.recorded, run.now(), run)
  if (waitMs === 0 || run.signal.aborted || findDeltaInDoubt(write, run) !== null) return
  const message = 'an earlier call may still change these items'
  getSpan()?.addEvent('settle wait', {
    'edgewise.write': write.id,
    'edgewise.wait.seconds': waitMs / 1000,
  })
  run.report({
    type: 'write.waiting',
    id: write.id,
    seconds: Math.ceil(waitMs / 1000),
    message,
  })
  // Timers do not count the time asleep.
  let leftMs = waitMs
  while (leftMs > 0 && !run.signal.aborted) {
    await run.clock.sleep(Math.min(leftMs, maxSleepMs), run.signal)
    leftMs = computeSettleWait(write, run.recorded, run.now(), run)
  }
}
