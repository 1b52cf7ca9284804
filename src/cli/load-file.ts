import { readFileSync } from 'node:fs'
import { EdgewiseError } from '../model/edgewise-error.ts'

/**
 * Reads a file that the user named.
 *
 * @param called what the file is called in a message, with its path
 * @param hint what to name instead
 * @throws EdgewiseError `usage` when it can't be read
 */
export function loadFile(path: string, called = path, hint = ''): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new EdgewiseError(
      'usage',
      `${called} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      hint,
    )
  }
}
