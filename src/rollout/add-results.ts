import type { ApplyResult } from '../apply/run.ts'
import type { RecordedState } from '../state/store.ts'

/** What came of an apply that has not sent anything yet. */
export function createEmptyResult(recorded: RecordedState): ApplyResult {
  return {
    confirmed: 0,
    refused: 0,
    inDoubt: 0,
    notSent: 0,
    sent: false,
    stopped: null,
    refusals: [],
    unrecorded: null,
    recorded,
  }
}

/** Adds what came of one apply to what came of those before it. */
export function addResult(to: ApplyResult, more: ApplyResult): void {
  to.confirmed += more.confirmed
  to.refused += more.refused
  to.inDoubt += more.inDoubt
  to.notSent += more.notSent
  to.sent ||= more.sent
  to.stopped ??= more.stopped
  to.refusals.push(...more.refusals)
  to.unrecorded ??= more.unrecorded
  to.recorded = more.recorded
}

/** Whether everything of an apply is confirmed, and recorded so that others see it. */
export function isComplete({
  refused,
  inDoubt,
  notSent,
  stopped,
  unrecorded,
}: ApplyResult): boolean {
  return refused + inDoubt + notSent === 0 && stopped === null && unrecorded === null
}
