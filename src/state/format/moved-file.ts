import { movedFile } from '../../generated/state-validators.ts'
import type { MovedFile } from '../../generated/state-types.ts'
import { parseFile } from './parse-file.ts'

/** A recorded move of a domain to another name, at a time, ISO 8601. */
export type RecordedMove = MovedFile['moved'][number]

/** Formats the file of a domain that had other names: one line for each. */
export function formatMoved(moved: RecordedMove[]): string {
  const { format }: Pick<MovedFile, 'format'> = { format: movedFile.name }
  const lines = moved.map((move) => `\n    ${JSON.stringify(move)}`)
  return `{\n  "format": "${format}",\n  "moved": [${lines.join(',')}\n  ]\n}\n`
}

/**
 * Parses the file of a domain that had other names.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseMoved(place: string, text: string): RecordedMove[] {
  return parseFile(place, text, 'moved', movedFile).moved
}
