import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../model/json.ts'
import { checkStored, type StoredFormat } from '../../model/stored-file.ts'

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
  rollout:
    `${restore} As a last resort, delete it: the rollout is then forgotten, and its domains are ` +
    'no longer on hold.',
}

/** Kind of a state file. */
export type FileKind = keyof typeof hints

/**
 * Parses a state file.
 *
 * @param place location of the file, for messages
 * @param upgrade converts a file of an earlier version to this one
 * @throws EdgewiseError `record-damaged`, with the file, the place in it and the expected value
 */
export function parseFile<T extends { format: string }>(
  place: string,
  text: string,
  kind: FileKind,
  format: StoredFormat<T>,
  upgrade: (data: Json | undefined) => Json | undefined = (data) => data,
): T {
  const checked = checkStored(upgrade(parseJson(text)), format)
  if ('value' in checked) return checked.value
  if (!checked.newer) throw createDamagedFileError(place, checked.fault, kind)
  throw createUnreadableFileError(
    place,
    checked.fault,
    'Use the version of edgewise that wrote the file, or a newer one.',
  )
}

/** Converts a file of an earlier version that differs from this one in optional keys only. */
export function acceptVersion(
  earlier: string,
  format: { name: string },
  added: JsonObject = {},
): (data: Json | undefined) => Json | undefined {
  return (data) =>
    data !== undefined && isObject(data) && data['format'] === earlier
      ? { ...data, ...added, format: format.name }
      : data
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
