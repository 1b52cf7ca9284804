import { loadMarkedApplies, type MarkedApply } from './doubt-marks.ts'
import type { StatePaths } from './format/state-paths.ts'
import type { KnownFiles } from './known-files.ts'
import { loadDomains } from './load-files.ts'
import { loadUnfinished, type UnfinishedApply } from './load-journal.ts'
import { loadSnapshot } from './spans.ts'
import type { StateFiles } from './state-files.ts'
import type { RecordedState } from './store.ts'

/** Recorded state, and the applies that have not ended or have left a doubt mark. */
export interface LoadedState {
  recorded: RecordedState
  unfinished: UnfinishedApply[]
  marked: MarkedApply[]
}

/**
 * Loads recorded state, in which what these applies left is in-doubt.
 *
 * @param known files that need not be parsed before their items are used
 * @throws EdgewiseError `record-damaged`
 */
export async function loadState(
  files: StateFiles,
  paths: StatePaths,
  known: KnownFiles | null,
): Promise<LoadedState> {
  const loaded =
    files.readAtOnce === undefined
      ? files
      : await files.readAtOnce((shared) => loadSnapshot(shared, paths))
  const recorded = await loadDomains(loaded, paths, known)
  const unfinished = await loadUnfinished(loaded, paths, recorded)
  const marked = await loadMarkedApplies(loaded, paths, recorded)
  return { recorded, unfinished, marked }
}
