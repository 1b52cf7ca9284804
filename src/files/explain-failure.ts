import { EdgewiseError } from '../core/model/edgewise-error.ts'

/** Causes of failures, each with codes of the file system and phrases of git. */
const causes = [
  ['the disk is full', 'ENOSPC', 'No space left on device', 'Out of diskspace'],
  ['the quota of the disk is used up', 'EDQUOT', 'system error -122', 'Disk quota exceeded'],
  ['the file system is read-only', 'EROFS', 'Read-only file system'],
  ['no permission', 'EACCES', 'EPERM', ': Permission denied', 'insufficient permission for'],
  ['no permission', 'Operation not permitted'],
  ['a folder can not be created', 'unable to create directory'],
  ['it does not exist (or is a broken link)', 'ENOENT'],
  ['its links form a cycle', 'ELOOP'],
  ['it is a folder', 'EISDIR'],
  ['too many files are open', 'EMFILE'],
  ['nothing reads from this pipe', 'ENXIO'],
  ['its reader has ended', 'EPIPE'],
  ['nothing listens at this socket', 'ECONNREFUSED'],
  ['its path leads out of the workspace through a link', 'OUTSIDE'],
  ['it was changed meanwhile', 'CHANGED'],
]

/** Explains in words why the file system or git failed; null for an unknown cause. */
export function explainFailure(text: string): string | null {
  return causes.find(([, ...signs]) => signs.some((sign) => text.includes(sign)))?.[0] ?? null
}

/** Describes that something can't be written, by a code of `replaceBelow` or `writeFiles`. */
export function describeUnwritten(what: string, code: string): string {
  const shown = code.startsWith('E') ? ` (${code})` : ''
  return [`${what} can't be written${shown}`, explainFailure(code) ?? []].flat().join(': ')
}

/** Creates the error that a path can't be written, with a code as `describeUnwritten`. */
export function createUnwrittenError(path: string, code: string): EdgewiseError {
  return new EdgewiseError('usage', describeUnwritten(path, code))
}
