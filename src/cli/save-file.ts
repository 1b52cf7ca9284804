import {
  chmodSync,
  lstatSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
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
    throw createUnwritableError(path, findCode(error))
  }
}

/**
 * Writes a file named by the user, completely or not at all, so that others may read it any time.
 *
 * @param temporary identifies this process among those that may write here
 * @throws EdgewiseError `usage` if it can't be written
 */
export function saveWholeFile(path: string, text: string, temporary: string): void {
  const failure = replaceFile(path, text, temporary)
  if (failure !== null) throw createUnwritableError(path, failure)
}

function createUnwritableError(path: string, code: string): EdgewiseError {
  return new EdgewiseError('usage', `${path} can't be written (${code})`)
}

/**
 * Replaces the text of a file, completely or not at all. A file that does not exist is created.
 *
 * @param temporary identifies this process among those that may write here
 * @returns why it can't be written; null if it was
 */
export function replaceFile(path: string, text: string, temporary: string): string | null {
  try {
    const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined
    const target = isNew ? path : realpathSync(path)
    const draft = `${target}.${temporary}.tmp`
    writeFileSync(draft, '', { flag: 'wx' })
    try {
      if (!isNew) chmodSync(draft, statSync(target).mode)
      writeFileSync(draft, text)
      renameSync(draft, target)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
    return null
  } catch (error) {
    return findCode(error)
  }
}

function findCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
