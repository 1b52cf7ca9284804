import { writeFileSync } from 'node:fs'
import { EdgewiseError } from '../model/edgewise-error.ts'

/**
 * Writes a file that the user named.
 *
 * @throws EdgewiseError `usage` when it can't be written
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
