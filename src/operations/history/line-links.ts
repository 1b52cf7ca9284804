import { relative, sep } from 'node:path'
import type { Place } from '../../core/model/problem.ts'
import { resolveLinks } from '../../files/is-inside.ts'
import { createLinkFinder } from '../../outlets/report/domain/line-link.ts'
import { findRemoteName } from '../../state/git/ask-git.ts'
import { findRepository } from '../../state/git/find-repository.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import type { Outside } from '../runtime/outside.ts'
import type { Checkout, Settings } from '../runtime/workspace-parts.ts'

/**
 * Finds the commit of the manifests, and a search for the addresses of their lines at the code
 * host: that of the remote `origin`.
 */
export async function findLineLinks(
  { root, config, scrub, findTree }: Settings & Pick<Checkout, 'findTree'>,
  { env }: Pick<Outside, 'env'>,
): Promise<{ commit: string | null; findLink(place: Place): string | null }> {
  const { commit } = await findTree()
  const top = findRepository(root)?.workTree ?? null
  const gitEnv = buildGitEnvironment(env, config.service.token)
  const name = top === null ? null : await findRemoteName(root, 'origin', gitEnv)
  if (top === null || name === null) return { commit, findLink: () => null }
  const folder = relative(top, resolveLinks(root)).replaceAll(sep, '/')
  return { commit, findLink: createLinkFinder(scrub(name), folder, commit) }
}
