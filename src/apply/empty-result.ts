import type { RecordedState } from '../state/store.ts'
import type { ApplyResult } from './run.ts'

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
