import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatJson, parseJson } from '../../core/model/json.ts'
import { checkStored, type StoredFormat } from '../../core/model/text/stored-file.ts'

const restore = 'Restore the file from a backup or from version control.'
/** Hints for damaged files, by kind. */
const hints = {
  domain:
    `${restore} As a last resort, delete it: the domain then counts as unrecorded, and the next ` +
    'apply writes all its items.',
  journal: `${restore} Do not delete it: the writes of its apply may be in-doubt.`,
  outcomes: 'Do not delete it: it has outcomes that no commit has yet.',
  log: `${restore} Do not delete it: it has the last changes of a command that was killed.`,
  pruned: `${restore} As a last resort, delete it: the history then lacks its applies.`,
  moved:
    `${restore} As a last resort, delete it: the history of a renamed domain before that is then ` +
    'found under its old name only.',
  salt:
    `${restore} As a last resort, delete it: every recorded secret then counts as changed, and ` +
    'the next apply writes its item.',
  traffic:
    `${restore} As a last resort, delete it: traffic is then unknown until "edgewise stats ` +
    '--refresh" has counted it again.',
  head:
    `${restore} Do not delete it: "edgewise state verify" would then find entries of the history ` +
    'without their place.',
  restraints:
    `${restore} As a last resort, delete it: the next commit is then judged by its own files ` +
    'alone.',
  rollout:
    `${restore} As a last resort, delete it: the rollout is then forgotten, and its domains are ` +
    'no longer on hold.',
}

/** Kind of a state file. */
export type FileKind = keyof typeof hints

/** Formats a state file, in one line without an indent. */
export function formatFile<T extends { format: string }>(
  { name: format }: StoredFormat<T>,
  value: Omit<T, 'format'>,
  indent?: number,
): string {
  return formatJson({ format, ...value }, indent)
}

/**
 * Parses a state file.
 *
 * @param place location of the file, for messages
 * @throws EdgewiseError `record-damaged`, with the file, the place in it and the expected value
 */
export function parseFile<T extends { format: string }>(
  place: string,
  text: string,
  kind: FileKind,
  stored: StoredFormat<T>,
): Omit<T, 'format'> {
  const checked = checkStored(parseJson(text), stored)
  if ('value' in checked) {
    const { format: _format, ...value } = checked.value
    return value
  }
  if (!checked.newer) throw createDamagedFileError(place, checked.fault, kind)
  throw createUnreadableFileError(
    place,
    checked.fault,
    'Use the version of edgewise that wrote the file, or a newer one.',
  )
}

/** Creates the error for a state file with invalid contents. */
export function createDamagedFileError(
  place: string,
  fault: string,
  kind: FileKind,
): EdgewiseError {
  return createUnreadableFileError(place, fault, hints[kind])
}

function createUnreadableFileError(place: string, fault: string, hint: string): EdgewiseError {
  return new EdgewiseError(
    'record-damaged',
    `the state file ${place} can't be used: ${fault}`,
    hint,
  )
}
