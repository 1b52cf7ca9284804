import { join, relative, resolve, sep } from 'node:path'
import { isWithin, resolveLinks } from '../files/is-inside.ts'
import { workspaceFile } from '../manifest/find-root.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { findRepository } from '../state/git/find-repository.ts'
import type { Workspace } from '../manifest/workspace.ts'

/**
 * Names a workspace by the path of its file, with `/`, so that every clone and checkout has the
 * same name: from the top of its repository; outside of a repository from a state folder that is
 * not in the workspace, otherwise only the name of the file.
 */
export function nameWorkspace({
  root,
  config: { state },
}: Pick<Workspace, 'root' | 'config'>): string {
  const home = resolveLinks(root)
  const folder = resolveLinks(resolve(home, state.path))
  const usesFolder = state.database === undefined && !isWithin(home, folder)
  const top = findTop(home) ?? (usesFolder ? folder : home)
  return relative(top, join(home, workspaceFile)).replaceAll(sep, '/')
}

/** Finds the top folder of the repository; null without a usable one. */
function findTop(folder: string): string | null {
  try {
    return findRepository(folder)?.workTree ?? null
  } catch (error) {
    if (error instanceof EdgewiseError) return null
    throw error
  }
}
