import type { Branch } from './branch.ts'
import type { Logger } from './logger.ts'
import { isAboutCommit, type Committed } from './workspaces.ts'

/** Commits of the branch that are tried before the start fails. */
const maxCommits = 10

/**
 * Loads the workspace that a controller begins with: that of the tip, or of the last commit before
 * it that can be loaded. So a restart ends no rollout while the tip is invalid.
 *
 * @throws EdgewiseError that of the tip, if none of the last commits can be loaded
 */
export async function loadFirst(
  branch: Pick<Branch, 'listHistory'>,
  tip: string,
  load: (commit: string) => Promise<Committed>,
  logger: Logger,
): Promise<Committed> {
  try {
    return await load(tip)
  } catch (error) {
    if (!isAboutCommit(error)) throw error
    logger.error(`commit ${tip.slice(0, 12)} can't be loaded: ${error.message}`, {
      code: error.code,
    })
    for (const commit of (await branch.listHistory(tip, maxCommits)).slice(1))
      try {
        return await load(commit)
      } catch (older) {
        if (!isAboutCommit(older)) throw older
      }
    throw error
  }
}
