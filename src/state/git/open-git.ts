import { resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { askGit } from './ask-git.ts'
import { createRepository } from './create-repository.ts'
import { createDetachedGit } from './detached-git.ts'
import {
  formatGitError,
  scrubErrors,
  splitLines,
  type GitResult,
  type Gits,
} from './git-command.ts'
import { withQuietSsh } from './git-environment.ts'
import type { GitRepository } from './git-repository.ts'
import { openPlace } from './open-place.ts'
import { RemoteCalls, type RemoteContext } from './remote-calls.ts'

/**
 * Opens the repository that a folder is in; null if it is in none.
 *
 * @param remote name of the remote; `remote` of the result is null if the repository has no such
 *   remote
 * @param context clock for commit dates, limits for a remote that hangs; `scrub` removes secrets
 *   from what git prints on stderr
 * @throws EdgewiseError `unavailable` if git is not installed or refuses to work in the folder
 */
export async function openGit(
  folder: string,
  remote: string,
  env: Record<string, string>,
  context: RemoteContext & Partial<Pick<SecretHider, 'scrub'>>,
): Promise<GitRepository | null> {
  const place = openPlace(folder, env)
  if (place === null) return null
  const { createLibraryGit } = await import('./library-git.ts')
  const withoutSecrets = <T extends unknown[]>(
    run: (args: string[], ...others: T) => Promise<GitResult>,
  ) => scrubErrors(run, (text, sent) => context.scrub?.(text, sent) ?? text)
  const git = withoutSecrets(createLibraryGit(place, env))
  const questions = '--git-common-dir --is-shallow-repository --show-object-format'
  const found = await git(['rev-parse', ...questions.split(' ')])
  if (found.code !== 0)
    throw new EdgewiseError(
      'unavailable',
      `git can't work in ${folder}: ${formatGitError(found)}`,
      'Fix the cause, or store the state in a folder: "state: {store: dir}".',
    )
  const [common = '', shallow, format = 'sha1'] = splitLines(found.out)
  const remoteKeys = `${remote.replaceAll('.', '\\.')}\\.url|.*\\.promisor`
  const pattern = `^(core\\.sshcommand|remote\\.(${remoteKeys}))$`
  const settings = splitLines((await git(['config', '--get-regexp', pattern])).out)
  const quiet = withQuietSsh(env, settings)
  const updates = withoutSecrets(createDetachedGit(place, quiet))
  const urlKey = `remote.${remote}.url `
  const url = settings.find((line) => line.startsWith(urlKey))?.slice(urlKey.length)
  const remoteCalls = new RemoteCalls(updates, { name: remote, url: url ?? '' }, context)
  const gits: Gits = {
    queries: withoutSecrets(createLibraryGit(place, quiet)),
    updates,
    network: (args, input) => remoteCalls.run(args, input),
  }
  return createRepository(gits, {
    commonFolder: resolve(place.cwd, common),
    remote: url === undefined ? null : remote,
    isPartial: settings.some((line) => line.endsWith('.promisor true')),
    isShallow: shallow === 'true',
    idLength: format === 'sha256' ? 64 : 40,
    now: () => context.clock.now(),
  })
}

/**
 * Finds the checked-out commit of a folder; null without a commit, a usable repository or git, and
 * without running git outside of a repository.
 */
export function findHeadCommit(
  folder: string,
  env: Record<string, string>,
): Promise<string | null> {
  return askGit(folder, env, 'rev-parse', '--verify', 'HEAD')
}
