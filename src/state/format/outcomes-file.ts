import { outcomesFile } from '../../generated/state-validators.ts'
import type { OutcomesFile } from '../../generated/state-types.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { listWholeLines } from './log-file.ts'
import { acceptVersion, createDamagedFileError, parseFile } from './parse-file.ts'

const upgrade = acceptVersion('edgewise.outcomes/1', outcomesFile)

/** Changes of a state's files that no commit has yet, and the message for their commit. */
export interface UncommittedChanges {
  message: string
  files: FileChanges
}

/** Formats changes that no commit has yet, as a line of their file. */
export function formatOutcomes({ message, files }: UncommittedChanges): string {
  const line: OutcomesFile = {
    format: outcomesFile.name,
    message,
    files: Object.fromEntries(files),
  }
  return `${JSON.stringify(line)}\n`
}

/**
 * Parses the lines of a file of changes that no commit has yet. The last one is ignored if it is
 * not whole: the power failed, or the process died, before it was durable.
 *
 * @param home folder of the state, which has all of their files
 * @throws EdgewiseError `record-damaged`
 */
export function parseOutcomes(place: string, home: string, text: string): UncommittedChanges[] {
  return listWholeLines(text).map((line, i) => parseLine(`${place}:${i + 1}`, home, line))
}

function parseLine(place: string, home: string, line: string): UncommittedChanges {
  const { message, files } = parseFile(place, line, 'outcomes', outcomesFile, upgrade)
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
