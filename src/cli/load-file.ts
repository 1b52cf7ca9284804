import { readFileSync } from 'node:fs'
import { EdgewiseError } from '../model/edgewise-error.ts'

/**
 * Loads a file named by the user.
 *
 * @param called name of the file in messages, with its path
 * @param hint what to pass instead
 * @throws EdgewiseError `usage` if it can't be loaded
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
