import { relative, sep } from 'node:path'
import type { Place } from '../../core/model/problem.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import { resolveLinks } from '../../files/is-inside.ts'
import { findRemoteName } from '../../state/git/ask-git.ts'
import { findRepository } from '../../state/git/find-repository.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import type { Outside, Checkout, Settings } from '../runtime/parts.ts'

/** Addresses of lines at the code hosts that are known, by the name of a repository. */
const forms: [name: RegExp, between: string, line: string][] = [
  [/^github\.com\//, '/blob/', '#L'],
  [/^gitlab\./, '/-/blob/', '#L'],
  [/^bitbucket\.org\//, '/src/', '#lines-'],
]

/**
 * Finds the commit of the manifests, and the addresses of their lines at the code host: that of the
 * remote `origin`. Null for a host that is not known, and without a commit.
 */
export async function findLineLinks(
  { root, config, scrub, findTree }: Settings & Pick<Checkout, 'findTree'>,
  { env }: Outside,
): Promise<{ commit: string | null; findLink(place: Place): string | null }> {
  const { commit } = await findTree()
  const top = findRepository(root)?.workTree ?? root
  const gitEnv = buildGitEnvironment(env, config.service.token)
  const name = scrub(markForeign((await findRemoteName(root, 'origin', gitEnv)) ?? ''))
  const [, between, line] = forms.find(([pattern]) => pattern.test(name)) ?? []
  if (commit === null || between === undefined) return { commit, findLink: () => null }
  const folder = relative(top, resolveLinks(root)).split(sep)
  return {
    commit,
    findLink: ({ file, line: number }) => {
      const steps = [...folder, ...file.split('/')].filter((step) => step !== '')
      const path = steps.map(encodeURIComponent).join('/')
      return `https://${encodeURI(name)}${between}${commit}/${path}${line}${number}`
    },
  }
}
