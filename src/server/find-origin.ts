import { relative } from 'node:path'
import { isInside } from '../files/is-inside.ts'
import { findRealPath } from '../files/look.ts'
import { findRoot } from '../manifest/find-root.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createDetachedGit } from '../state/git/detached-git.ts'
import { splitLines } from '../state/git/git-command.ts'
import { openPlace } from '../state/git/open-place.ts'

/**
 * Finds the remote `origin` of the repository that contains a folder.
 *
 * @returns its address, the top folder of the repository, and the path of the workspace of `cwd`
 *   within it, which is null without one
 * @throws EdgewiseError `usage` outside of a repository, and without `origin`
 */
export async function findOrigin(
  cwd: string,
  env: Record<string, string>,
): Promise<{ address: string; top: string; folder: string | null }> {
  const hint = 'Pass the address of the repository: "edgewise serve REPOSITORY".'
  const place = openPlace(cwd, env)
  if (place === null)
    throw new EdgewiseError('usage', `the folder ${cwd} is in no git repository`, hint)
  const top = place.workTree
  const git = createDetachedGit(place, env)
  const [address] = splitLines((await git(['config', '--get', 'remote.origin.url'])).out)
  if (address === undefined)
    throw new EdgewiseError('usage', `the repository ${top} has no remote origin`, hint)
  const root = findRoot(cwd)
  const folder = root !== null && isInside(top, root) ? relative(top, findRealPath(root)) : null
  return { address, top, folder: folder?.replaceAll('\\', '/') ?? null }
}
