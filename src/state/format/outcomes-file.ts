import { outcomesFile } from '../../generated/state-validators.ts'
import type { OutcomesFile } from '../../generated/state-types.ts'
import { parseJson } from '../../model/json.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { createDamagedFileError, parseFile } from './parse-file.ts'

/** Changes of a state's files that no commit has yet, and the message for their commit. */
export interface UncommittedChanges {
  message: string
  files: FileChanges
}

/** Formats changes that no commit has yet. */
export function formatOutcomes({ message, files }: UncommittedChanges): string {
  const file: OutcomesFile = {
    format: outcomesFile.name,
    message,
    files: Object.fromEntries(files),
  }
  return `${JSON.stringify(file)}\n`
}

/**
 * Parses changes that no commit has yet; null if the text is cut off, since the process died before
 * they were durable.
 *
 * @param home folder of the state, which has all of their files
 * @throws EdgewiseError `record-damaged`
 */
export function parseOutcomes(
  place: string,
  home: string,
  text: string,
): UncommittedChanges | null {
  if (parseJson(text) === undefined) return null
  const { message, files } = parseFile(place, text, 'outcomes', outcomesFile)
  const outside = Object.keys(files).find((path) => !isInside(home, path))
  if (outside !== undefined)
    throw createDamagedFileError(
      place,
      `${JSON.stringify(outside)} is no file of ${home}`,
      'outcomes',
    )
  return { message, files: new Map(Object.entries(files)) }
}

function isInside(home: string, path: string): boolean {
  const isPlain = path.split('/').every((name) => !['', '.', '..'].includes(name))
  return isPlain && path.startsWith(`${home}/`) && !/\p{Cc}/u.test(path)
}
