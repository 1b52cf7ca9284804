import { append } from '../../core/model/lists.ts'
import type { EndReason, OutcomeCounts } from '../../core/model/outcome.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { createEmptyCounts, isAllConfirmed, type ApplyResult } from './run.ts'

/** Creates the result of an apply that has not sent anything. */
export function createEmptyResult(recorded: RecordedState): ApplyResult {
  return {
    ...createEmptyCounts(),
    parts: createEmptyCounts(),
    sent: false,
    stopped: null,
    refusals: [],
    unrecorded: null,
    unsettled: [],
    unshared: false,
    recorded,
  }
}

/** Ends an apply early, unless it has a reason already, and returns its reason. */
export function endEarly(result: ApplyResult, { message, interrupted }: EndReason): EndReason {
  if (result.stopped === null && interrupted === true) result.interrupted = 'writes'
  result.stopped ??= message
  const isInterrupt = result.interrupted !== undefined
  return { message: result.stopped, ...(isInterrupt ? { interrupted: true } : {}) }
}

/** Adds the result of an apply to a total. */
export function addResult(total: ApplyResult, more: ApplyResult): void {
  addOutcomes(total, more)
  addOutcomes(total.parts, more.parts)
  total.sent ||= more.sent
  if (total.stopped === null && more.interrupted !== undefined) total.interrupted = more.interrupted
  total.stopped ??= more.stopped
  append(total.refusals, more.refusals)
  append(total.unsettled, more.unsettled)
  if (total.unrecorded === null) total.unshared = more.unshared
  total.unrecorded ??= more.unrecorded
  total.recorded = more.recorded
}

function addOutcomes(total: OutcomeCounts, more: OutcomeCounts): void {
  total.confirmed += more.confirmed
  total.refused += more.refused
  total.inDoubt += more.inDoubt
  total.notSent += more.notSent
}

/** Returns whether all of an apply is confirmed, and recorded where other machines see it. */
export function isComplete(result: ApplyResult): boolean {
  const isWhole = isAllConfirmed(result, result.parts)
  return isWhole && result.stopped === null && result.unrecorded === null
}
