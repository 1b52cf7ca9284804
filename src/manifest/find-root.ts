import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'

export const workspaceFile = 'edgewise.yaml'

/** Finds the nearest folder from `start` upwards with an `edgewise.yaml`; null if there is none. */
export function findRoot(start: string): string | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (existsSync(join(folder, workspaceFile))) return folder
    if (folder === dirname(folder)) return null
  }
}

/**
 * Finds the nearest file from `start` upwards that `edgewise.yaml` was meant to be, such as
 * `edgewise.yml`; null if there is none.
 */
export function findMisnamed(start: string): string | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const name = listFileNames(folder).find(
      (each) => /^edgewise\.ya?ml$/i.test(each) && each !== workspaceFile,
    )
    if (name !== undefined) return join(folder, name)
    if (folder === dirname(folder)) return null
  }
}

/** Lists the files of a folder; none if it can't be read. */
function listFileNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [] : [entry.name],
    )
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/**
 * Creates the error of a folder without an `edgewise.yaml` in it or above it.
 *
 * @param start an absolute path
 */
export function createNoWorkspaceError(start: string): EdgewiseError {
  const misnamed = findMisnamed(start)
  const missing = `no ${workspaceFile} in ${start} or its parent folders`
  return misnamed === null
    ? new EdgewiseError(
        'not-a-workspace',
        missing,
        'Run "edgewise init" to create a workspace, or pass its folder with -C.',
      )
    : new EdgewiseError(
        'not-a-workspace',
        `${missing}, but there is ${misnamed}`,
        `Rename it to ${workspaceFile}.`,
      )
}
