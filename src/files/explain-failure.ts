/** Causes of failures, by codes of the file system and by messages of git. */
const causes: [RegExp, string][] = [
  [/^ENOSPC\b|no space left on device|out of diskspace/i, 'the disk is full'],
  [/^EDQUOT\b|system error -122\b|disk quota exceeded/i, 'the quota of the disk is used up'],
  [/^EROFS\b|read-only file system/i, 'the file system is read-only'],
  [/^(EACCES|EPERM)\b|: (permission denied|operation not permitted)(;|$)/im, 'no permission'],
  [/insufficient permission for/, 'no permission'],
  [/unable to create directory/, 'a folder can not be created'],
  [/^ENOENT\b/, 'it does not exist (or is a broken link)'],
  [/^ELOOP\b/, 'its links form a cycle'],
  [/^EISDIR\b/, 'it is a folder'],
  [/^EMFILE\b/, 'too many files are open'],
  [/^ENXIO\b/, 'nothing reads from this pipe'],
  [/^EPIPE\b/, 'its reader has ended'],
  [/^ECONNREFUSED\b/, 'nothing listens at this socket'],
  [/^OUTSIDE$/, 'its path leads out of the workspace through a link'],
  [/^CHANGED$/, 'it was changed meanwhile'],
]

/** Explains in words why the file system or git failed; null for an unknown cause. */
export function explainFailure(text: string): string | null {
  return causes.find(([pattern]) => pattern.test(text))?.[1] ?? null
}

/** Describes that something can't be written, by a code of `replaceBelow` or `writeFiles`. */
export function describeUnwritten(what: string, code: string): string {
  const cause = explainFailure(code)
  const shown = cause === null || code.startsWith('E') ? ` (${code})` : ''
  return `${what} can't be written${shown}${cause === null ? '' : `: ${cause}`}`
}
