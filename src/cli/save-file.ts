import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

/**
 * Replaces the text of a file, completely or not at all.
 *
 * @param temporary identifies this process among those that may write here
 * @returns why it can't be written; null if it was
 */
export function replaceFile(path: string, text: string, temporary: string): string | null {
  try {
    const target = realpathSync(path)
    const draft = `${target}.${temporary}.tmp`
    writeFileSync(draft, '', { flag: 'wx' })
    try {
      chmodSync(draft, statSync(target).mode)
      writeFileSync(draft, text)
      renameSync(draft, target)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
