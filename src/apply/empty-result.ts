import { createEmptyCounts } from './counts.ts'
import type { RecordedState } from '../state/store.ts'
import type { ApplyResult } from './run.ts'

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
