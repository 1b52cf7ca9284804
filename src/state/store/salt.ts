import { compareKeys } from '../../core/model/lists.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { StatePaths } from '../format/state-paths.ts'
import type { Guard, SharedFiles } from './state-files.ts'
import { saltFile } from '../../core/model/generated/state-validators.ts'
import { formatFile, parseFile } from '../format/parse-file.ts'

/**
 * Loads the salt of the fingerprints; null if there is none yet.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadSalt(files: SharedFiles, paths: StatePaths): Promise<string | null> {
  const stored = [...(await files.load(paths.salts))].toSorted(compareKeys)
  const [first] = stored.map(([path, text]) =>
    parseFile(files.describePath(path), text, 'salt', saltFile),
  )
  return first?.salt ?? null
}

/**
 * Builds the first step of a change that stores a salt, and its guard: there must be no other one.
 *
 * @param salt null to store none
 * @param guard other guard of the change
 */
export function addSalt(
  paths: StatePaths,
  salt: string | null,
  guard: Guard | undefined,
): { files: FileChanges; guard: Guard | undefined } {
  if (salt === null) return { files: new Map(), guard }
  const path = paths.salt(salt)
  const guardSalt: Guard = async (files) => {
    await guard?.(files)
    const other = (await files.listPaths(paths.salts)).find((each) => each !== path)
    if (other === undefined) return
    throw new EdgewiseError(
      'record-moved',
      `another command has just recorded the first secrets of this service, with another salt ` +
        `(${files.describePath(other)})`,
      'Run the same command again: it uses that salt.',
    )
  }
  return { files: new Map([[path, formatFile(saltFile, { salt })]]), guard: guardSalt }
}
