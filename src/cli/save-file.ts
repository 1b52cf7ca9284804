import { writeFileSync } from 'node:fs'
import { EdgewiseError } from '../model/edgewise-error.ts'

/**
 * Writes a file named by the user.
 *
 * @throws EdgewiseError `usage` if it can't be written
 */
export function saveFile(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new EdgewiseError(
      'usage',
      `${path} can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    )
  }
}
