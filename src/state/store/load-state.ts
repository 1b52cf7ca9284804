import { loadMarkedApplies, type MarkedApply } from './doubt-marks.ts'
import { type StatePaths, buildStatePaths } from '../format/state-paths.ts'
import { loadDomains } from './load-files.ts'
import { loadUnfinished, type UnfinishedApply } from './load-journal.ts'
import type { SharedFiles, StateFiles } from './state-files.ts'
import type { RecordedState, StateKey } from './store.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { formatAddress } from '../format/address-file.ts'
import { formatDomainFiles } from '../format/domain-file.ts'
import { formatEntry } from '../format/journal.ts'

/** Recorded state, and the applies that have not ended or have left a doubt mark. */
export interface LoadedState {
  recorded: RecordedState
  unfinished: UnfinishedApply[]
  marked: MarkedApply[]
}

/**
 * Loads recorded state, in which what these applies left is in-doubt.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadState(files: StateFiles, paths: StatePaths): Promise<LoadedState> {
  const load = async (shared: SharedFiles) => {
    const recorded = await loadDomains(shared, paths)
    const unfinished = await loadUnfinished(shared, paths, recorded)
    return { recorded, unfinished, marked: await loadMarkedApplies(shared, paths, recorded) }
  }
  return files.readAtOnce?.(load) ?? load(files)
}

/**
 * Builds the file changes that close unfinished and marked applies, and name the service of the
 * state. The items that these applies left in-doubt move to the files of their domains. Their end
 * stays unknown.
 */
export function buildClosing(
  key: StateKey,
  unfinished: UnfinishedApply[],
  marked: MarkedApply[],
): FileChanges[] {
  const paths = buildStatePaths(key)
  const doubts = new Map<string, string | null>([[paths.address, formatAddress(key)]])
  const entries = new Map<string, string>()
  const markers = new Map<string, null>()
  for (const { domains } of [...unfinished, ...marked])
    for (const [path, text] of formatDomainFiles(paths, domains)) doubts.set(path, text)
  for (const { entry } of unfinished) {
    entries.set(paths.entry(entry.id), formatEntry({ ...entry, outcome: 'interrupted' }))
    markers.set(paths.marker(entry.id), null)
  }
  for (const { apply } of marked) markers.set(paths.doubt(apply), null)
  return [doubts, entries, markers]
}
