import { relative } from 'node:path'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { resolveLinks } from '../../files/is-inside.ts'
import type { Git } from './git-command.ts'
import { openPlace } from './open-place.ts'

/** Git in a repository. */
export interface Opened {
  git: Git
  /** Top of its work tree. */
  top: string
  /** The folder asked for, from the top; `.` for the top. */
  folder: string
}

/**
 * Opens git for questions about the repository of a folder; null without a usable one.
 */
export async function openQueries(
  root: string,
  env: Record<string, string>,
): Promise<Opened | null> {
  try {
    const place = openPlace(root, env)
    if (place === null) return null
    const { createLibraryGit } = await import('./library-git.ts')
    // A partial clone does not ask its remote for a commit that it lacks.
    const quiet = { ...env, GIT_ALLOW_PROTOCOL: 'none', GIT_LITERAL_PATHSPECS: '1' }
    const folder = relative(place.workTree, resolveLinks(root)) || '.'
    return { git: createLibraryGit(place, quiet), folder, top: place.workTree }
  } catch (error) {
    throwDefect(error)
    return null
  }
}
