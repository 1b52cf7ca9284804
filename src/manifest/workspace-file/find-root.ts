import { dirname, join, resolve } from 'node:path'
import { listFileNames } from '../../files/list-names.ts'
import { exists } from '../../files/look.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

export const workspaceFile = 'edgewise.yaml'

/**
 * Finds the nearest folder from `start` upwards with an `edgewise.yaml`; null if there is none.
 *
 * @throws EdgewiseError `not-a-workspace` if a misnamed file is nearer: its folder was meant
 */
export function findRoot(start: string): string | null {
  let misnamed: string | null = null
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const file = join(folder, workspaceFile)
    if (exists(file)) {
      if (misnamed === null) return folder
      throw new EdgewiseError(
        'not-a-workspace',
        `there is ${misnamed}, which is no name of a workspace file, below ${file}`,
        `Rename ${misnamed} to ${workspaceFile}, or remove it. To use ${file}, pass its folder ` +
          'with -C.',
      )
    }
    if (folder === dirname(folder)) return null
    misnamed ??= findMisnamedIn(folder)
  }
}

/**
 * Finds the nearest file from `start` upwards that `edgewise.yaml` was meant to be, such as
 * `edgewise.yml`; null if there is none.
 */
export function findMisnamed(start: string): string | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const file = findMisnamedIn(folder)
    if (file !== null) return file
    if (folder === dirname(folder)) return null
  }
}

function findMisnamedIn(folder: string): string | null {
  const name = listFileNames(folder).find(
    (each) => /^edgewise\.ya?ml$/i.test(each) && each !== workspaceFile,
  )
  return name === undefined ? null : join(folder, name)
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
