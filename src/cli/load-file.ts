import { loadNamed } from '../files/load-below.ts'
import { isFault } from '../files/load-bounded.ts'
import { decodeText } from '../core/model/input-limits.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'

/** Maximum size of a file that the user names. */
export const maxBytes = 256 * 1024 * 1024

/**
 * Loads a text file named by the user: a regular file of at most 256 MB. A link in the checkout is
 * followed only within it.
 *
 * @param called name of the file in messages, with its path
 * @param hint what to pass instead
 * @param checkout folder that a commit brings; null if there is none
 * @param decode turns the bytes into a text
 * @throws EdgewiseError `usage` if it can't be loaded
 */
export function loadFile(
  path: string,
  called = path,
  hint = '',
  checkout: string | null = null,
  decode = decodeText,
): string {
  const bytes = loadNamed(path, maxBytes, checkout)
  if (isFault(bytes) && bytes.kind === 'unreadable')
    throw new EdgewiseError(
      'usage',
      bytes.code === 'ENOENT'
        ? `${called}: no such file`
        : `${called} can't be read (${bytes.code})`,
      hint,
    )
  if (isFault(bytes)) throw new EdgewiseError('usage', `${called}: ${bytes.reason}`, hint)
  const decoded = decode(bytes)
  if ('text' in decoded) return decoded.text
  const advice = decode === decodeText ? 'Save the file as UTF-8 without a byte order mark.' : ''
  throw new EdgewiseError(
    'usage',
    `${called}: ${decoded.fault}`,
    hint === '' ? advice : `${advice} ${hint}`,
  )
}
