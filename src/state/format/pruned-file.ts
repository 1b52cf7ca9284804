import { prunedFile } from '../../generated/state-validators.ts'
import type { PrunedFile } from '../../generated/state-types.ts'
import type { Applied } from '../../model/applied.ts'
import { parseFile } from './parse-file.ts'

/** Applies whose journal entries and waves were pruned. */
export interface PrunedApplies {
  /** The latest of them, first to last. */
  applies: Applied[]
  /** Number of earlier ones. */
  dropped: number
}

/** Formats the file of the pruned applies: one line for each. */
export function formatPruned({ applies, dropped }: PrunedApplies): string {
  const { format }: Pick<PrunedFile, 'format'> = { format: prunedFile.name }
  const lines = applies.map((apply) => `\n    ${JSON.stringify(apply)}`)
  return (
    `{\n  "format": "${format}",\n  "dropped": ${dropped},\n` +
    `  "applies": [${lines.join(',')}\n  ]\n}\n`
  )
}

/**
 * Parses the file of the pruned applies.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parsePruned(place: string, text: string): PrunedApplies {
  const { applies, dropped } = parseFile(place, text, 'pruned', prunedFile)
  return { applies, dropped }
}
