import { EdgewiseError } from '../../model/edgewise-error.ts'
import { parseJson } from '../../model/json.ts'
import { checkStored, type StoredFormat } from '../../model/stored-file.ts'

const restore = 'Restore the file from a backup or from version control.'
/** What to do about a damaged file, by what it holds. */
const hints = {
  domain: `${restore} As a last resort delete it: the domain then counts as unrecorded and is written whole by the next apply.`,
  journal: `${restore} Do not delete it: the writes of its apply may be in-doubt.`,
  rollout: `${restore} As a last resort delete it: the rollout is then forgotten, and its domains are no longer on hold.`,
}

/** What a file of a record holds. */
export type FileKind = keyof typeof hints

/**
 * Parses a file of a record.
 *
 * @param place where it is, for the message
 * @throws EdgewiseError `record-damaged`: the file, the place in it, what was expected and what to
 * do
 */
export function parseFile<T extends { format: string }>(
  place: string,
  text: string,
  kind: FileKind,
  format: StoredFormat<T>,
): T {
  const checked = checkStored(parseJson(text), format)
  if ('value' in checked) return checked.value
  if (!checked.newer) throw createDamagedFileError(place, checked.fault, kind)
  throw createUnreadableFileError(
    place,
    checked.fault,
    'Use the version of edgewise that wrote the file, or a newer one.',
  )
}

/** The error for a file of a record that can't be used. */
export function createDamagedFileError(place: string, what: string, kind: FileKind): EdgewiseError {
  return createUnreadableFileError(place, what, hints[kind])
}

function createUnreadableFileError(place: string, what: string, hint: string): EdgewiseError {
  return new EdgewiseError('record-damaged', `the record ${place} can't be read: ${what}`, hint)
}
