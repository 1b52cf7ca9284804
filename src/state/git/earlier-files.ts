import { parseBatch } from './parse-batch.ts'
import { posix } from 'node:path'
import { findLine } from './ask-git.ts'
import { openQueries } from './open-queries.ts'

/** Texts of files at the commit before the checked-out one; or in a clause why there are none. */
export type EarlierFiles = { commit: string; texts: Map<string, string> } | { reason: string }

/**
 * Loads files of a workspace from the commit that the checked-out one is based on: its first
 * parent, or with `branch` where it left that branch of the remote `origin`. Files that were not
 * there are left out.
 *
 * @param paths relative to the workspace's folder
 * @param branch that a pull request is for; null for none
 */
export async function loadEarlierFiles(
  root: string,
  paths: readonly string[],
  branch: string | null,
  env: Record<string, string>,
): Promise<EarlierFiles> {
  const opened = await openQueries(root, env)
  if (opened === null) return { reason: 'there is no usable Git repository' }
  const { git, folder } = opened
  const ask = (...args: string[]) => findLine(git, args)
  const parent = await ask('rev-parse', '--verify', '--quiet', 'HEAD^1')
  // CI checks out the merge of a pull request, whose first parent is the branch.
  const isMerge = (await ask('rev-parse', '--verify', '--quiet', 'HEAD^2')) !== null
  const forked =
    branch === null ? null : await ask('merge-base', 'HEAD', `refs/remotes/origin/${branch}`)
  const commit = branch === null || (forked === null && isMerge) ? parent : forked
  if (commit === null)
    return {
      reason:
        branch === null
          ? 'this clone has no commit before the checked-out one'
          : `this clone does not have the branch "${branch}" of the remote "origin"`,
    }
  const wanted = paths.filter((path) => !path.includes('\n'))
  const names = wanted.map((path) => `${commit}:${posix.join(folder, path)}\n`)
  const { code, out } = await git(['cat-file', '--batch'], names.join(''))
  if (code !== 0) return { reason: 'git could not read the files of the commit before' }
  return { commit, texts: parseBatch(out, wanted) }
}
