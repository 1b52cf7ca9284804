import { execFileSync } from 'node:child_process'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { resolveLinks } from '../../files/is-inside.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { findRepository, isOwnRepository, type RepositoryPlace } from './find-repository.ts'
import { gitSettings, outsideRepositories, withPlace, type GitPlace } from './git-environment.ts'

type Env = Record<string, string>

/**
 * Finds the repository around a folder, for git processes in its top folder. Git checks the owner
 * of a repository only if it has found it by itself, so it is checked here.
 *
 * @returns null if there is none
 * @throws EdgewiseError as `findRepository`, and `unavailable` for the repository of another
 *   user, unless `safe.directory` allows it
 */
export function openPlace(folder: string, env: Env): (GitPlace & RepositoryPlace) | null {
  const found = findRepository(folder)
  if (found === null) return null
  if (!isOwnRepository(found, env) && !isAllowed(found.workTree, env))
    throw new EdgewiseError(
      'unavailable',
      `the repository ${found.workTree} belongs to another user, whose settings may start programs`,
      `If you trust it: git config --global --add safe.directory ${found.workTree}`,
    )
  return { ...found, cwd: found.workTree }
}

/** Tests whether `safe.directory` in the settings of the user or the system allows a folder. */
function isAllowed(workTree: string, env: Env): boolean {
  const args = ['config', '--null', '--type=path', '--get-all', 'safe.directory']
  const { out } = runGit(outsideRepositories(workTree), args, env)
  const values = out.split('\0').slice(0, -1)
  // An empty value discards those before it.
  return values.slice(values.lastIndexOf('') + 1).some((value) => {
    if (value === '*') return true
    return value.endsWith('/*')
      ? workTree.startsWith(value.slice(0, -1))
      : resolve(value) === workTree
  })
}

/**
 * Creates a test whether git would add a file to the repository around a folder, or has it. Without
 * a repository or git nothing can be committed. A file that git has no answer for counts as added.
 */
export function createCommitTest(folder: string, env: Env): (path: string) => boolean {
  const isAdded = (path: string): boolean => {
    const place = openPlace(folder, env)
    if (place === null) return false
    const steps = relative(place.workTree, path)
    if (steps === '..' || steps.startsWith(`..${sep}`) || isAbsolute(steps)) return false
    const { code } = runGit(place, ['check-ignore', '--quiet', '--', steps], env)
    return code !== 0 && code !== null
  }
  return (path) => {
    const absolute = resolve(folder, path)
    // A link counts as well as its target.
    const link = join(resolveLinks(dirname(absolute)), basename(absolute))
    return isAdded(link) || isAdded(resolveLinks(absolute))
  }
}

/** Runs git while this process waits; the code is null if git is not installed. */
function runGit(place: GitPlace, args: string[], env: Env): { code: number | null; out: string } {
  const settings = gitSettings.flatMap((setting) => ['-c', setting])
  try {
    const out = execFileSync('git', [...settings, ...args], {
      cwd: place.cwd,
      env: withPlace(env, place),
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
    return { code: 0, out }
  } catch (error) {
    const { status, code } = error as NodeJS.ErrnoException & { status?: number | null }
    if (code === 'ENOENT') return { code: null, out: '' }
    return { code: status ?? 1, out: '' }
  }
}
