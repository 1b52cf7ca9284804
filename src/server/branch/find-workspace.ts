import { join, relative } from 'node:path'
import { isInside } from '../../files/is-inside.ts'
import { exists, findRealPath } from '../../files/look.ts'
import { workspaceFile, findRoot } from '../../manifest/workspace-file/find-root.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { listSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { createDetachedGit } from '../../state/git/detached-git.ts'
import { splitLines } from '../../state/git/git-command.ts'
import { openPlace } from '../../state/git/open-place.ts'

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

/**
 * Finds the folder of the workspace in a checkout.
 *
 * @param folder path within the repository; null for the top folder or the only workspace
 * @param files paths of all files of the commit
 * @param commit for messages
 * @throws EdgewiseError `not-a-workspace`
 */
export function findWorkspace(
  checkout: string,
  folder: string | null,
  files: string[],
  commit: string,
): string {
  const found = files
    .filter((path) => path === workspaceFile || path.endsWith(`/${workspaceFile}`))
    .map((path) => path.slice(0, -workspaceFile.length).replace(/\/$/, ''))
  const isClear = folder !== null || found.includes('') || found.length === 1
  const chosen = folder ?? (found.includes('') ? '' : found[0])
  const at = `at commit ${commit.slice(0, 12)}`
  const some = listSome(found.map((each) => escapeInvisible(each || '.')).toSorted(), 5)
  if (chosen === undefined)
    throw new EdgewiseError(
      'not-a-workspace',
      `the repository has no ${workspaceFile} ${at}`,
      'Run "edgewise init" in a clone, commit and push.',
    )
  if (!isClear)
    throw new EdgewiseError(
      'not-a-workspace',
      `the repository has ${found.length} workspaces ${at}`,
      `Choose one with --folder: ${some}.`,
    )
  const path = join(checkout, chosen)
  const file = join(path, workspaceFile)
  // A link in the repository may lead anywhere.
  if (exists(file) && isInside(checkout, path) && isInside(checkout, file)) return path
  throw new EdgewiseError(
    'not-a-workspace',
    `the folder ${escapeInvisible(chosen || '.')} of the repository has no ${workspaceFile} ${at}`,
    found.length === 0
      ? 'Run "edgewise init" in a clone, commit and push.'
      : `Choose another with --folder: ${some}.`,
  )
}
