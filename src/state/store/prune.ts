import { escapeJson } from '../../core/model/json.ts'
import type { Applied } from '../../core/model/applied.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { StatePaths } from '../format/state-paths.ts'
import type { SharedFiles } from './state-files.ts'
import type { PrunedApplies } from './store.ts'
import { prunedFile } from '../../core/model/generated/state-validators.ts'
import { parseFile } from '../format/parse-file.ts'

/** Maximum number of pruned applies that stay listed. */
const maxListed = 1000

/** Loads the pruned applies. */
export async function loadPruned(files: SharedFiles, paths: StatePaths): Promise<PrunedApplies> {
  const text = (await files.load(paths.prunedFolder)).get(paths.pruned)
  return text === undefined
    ? { applies: [], dropped: 0 }
    : parseFile(files.describePath(paths.pruned), text, 'pruned', prunedFile)
}

/**
 * Builds the file changes that replace the journal entries and batches of applies by a line for
 * each (`listed`: their file). An entry is gone before its batches: batches without an entry are
 * left over from an interrupted change, and go too.
 */
export async function buildPrune(
  files: SharedFiles,
  paths: StatePaths,
  applies: Applied[],
): Promise<{ steps: FileChanges[]; listed: string }> {
  const ids = new Set(applies.map(({ id }) => id))
  const earlier = await loadPruned(files, paths)
  const all = [...earlier.applies.filter(({ id }) => !ids.has(id)), ...applies]
  const listed = all.slice(-maxListed)
  const dropped = earlier.dropped + all.length - listed.length
  const entries = new Set(await files.listPaths(paths.journal))
  const batches = (await files.listPaths(paths.batches)).flatMap((path) => {
    const [apply = ''] = path.slice(`${paths.batches}/`.length).split('/')
    const isGone = ids.has(apply) || !entries.has(paths.entry(apply))
    return isGone ? [`${paths.batches}/${apply}`] : []
  })
  const text = formatPruned({ applies: listed, dropped })
  const steps: FileChanges[] = [
    new Map([[paths.pruned, text]]),
    new Map([...ids].map((id) => [paths.entry(id), null])),
    new Map(batches.map((folder) => [folder, null])),
  ]
  return { steps, listed: text }
}

/** Formats the file of the pruned applies: one line for each. */
export function formatPruned({ applies, dropped }: PrunedApplies): string {
  const lines = applies.map((apply) => `\n    ${JSON.stringify(apply)}`)
  return escapeJson(
    `{\n  "format": "${prunedFile.name}",\n  "dropped": ${dropped},\n` +
      `  "applies": [${lines.join(',')}\n  ]\n}\n`,
  )
}
