import type { ApplyResult } from '../apply/run.ts'
import type { RecordedState } from '../state/store.ts'

/** Creates the result of an apply that has not sent anything. */
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

/** Adds the result of an apply to a total. */
export function addResult(total: ApplyResult, more: ApplyResult): void {
  total.confirmed += more.confirmed
  total.refused += more.refused
  total.inDoubt += more.inDoubt
  total.notSent += more.notSent
  total.sent ||= more.sent
  total.stopped ??= more.stopped
  total.refusals.push(...more.refusals)
  total.unrecorded ??= more.unrecorded
  total.recorded = more.recorded
}

/** Returns whether all of an apply is confirmed, and recorded where other machines see it. */
export function isComplete({
  refused,
  inDoubt,
  notSent,
  stopped,
  unrecorded,
}: ApplyResult): boolean {
  return refused + inDoubt + notSent === 0 && stopped === null && unrecorded === null
}
