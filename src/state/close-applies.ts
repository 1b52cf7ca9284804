import type { MarkedApply } from './doubt-marks.ts'
import type { FileChanges } from './folder/write-file.ts'
import { formatAddress } from './format/address-file.ts'
import { formatDomainFiles } from './format/domain-file.ts'
import { formatEntry } from './format/journal.ts'
import { buildStatePaths } from './format/state-paths.ts'
import type { UnfinishedApply } from './load-journal.ts'
import type { StateKey } from './store.ts'

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
