import { join, relative, resolve, sep } from 'node:path'
import { isWithin, resolveLinks } from '../files/is-inside.ts'
import { workspaceFile } from '../manifest/find-root.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { findRemoteName } from '../state/git/remote-name.ts'
import { findRepository } from '../state/git/find-repository.ts'
import type { Workspace } from '../manifest/workspace.ts'

/**
 * Names a workspace by the path of its file, with `/`, so that every clone and checkout has the
 * same name: from the top of its repository; outside of a repository from a state folder that is
 * not in the workspace, otherwise only the name of the file. Where several repositories may share
 * the state, that of the remote comes first, as in `git.example.com/team/cdn//edgewise.yaml`.
 */
export async function nameWorkspace(
  { root, config: { state } }: Pick<Workspace, 'root' | 'config'>,
  env: Record<string, string>,
): Promise<string> {
  const home = resolveLinks(root)
  const folder = resolveLinks(resolve(home, state.path))
  const usesFolder = state.database === undefined && !isWithin(home, folder)
  const top = findTop(home)
  const base = top ?? (usesFolder ? folder : home)
  const path = relative(base, join(home, workspaceFile)).replaceAll(sep, '/')
  const isShared = state.database !== undefined || (state.store === 'dir' && usesFolder)
  const remote = top !== null && isShared ? await findRemoteName(home, state.remote, env) : null
  return remote === null ? path : `${remote}//${path}`
}

/** Tests whether two names may be those of one workspace: a checkout may lack the remote. */
export function isSameWorkspace(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.split('//'))
  if (a === undefined || b === undefined) return false
  return a.length === b.length ? one === other : a.at(-1) === b.at(-1)
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
