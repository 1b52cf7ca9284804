import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { findAdvice } from '../../state/git/advise-remote.ts'
import { createDetachedGit } from '../../state/git/detached-git.ts'
import {
  formatGitError,
  scrubErrors,
  splitLines,
  type GitResult,
} from '../../state/git/git-command.ts'
import {
  outsideRepositories,
  withQuietSsh,
  type GitPlace,
} from '../../state/git/git-environment.ts'
import {
  HangingRemoteError,
  RemoteCalls,
  remoteLimits,
  type RemoteContext,
} from '../../state/git/remote-calls.ts'

/** Name of the remote in the environment of git: no settings of a user mention it. */
export const remoteName = 'followed'

/** Context of git's processes; `scrub` removes secrets from what git prints on stderr. */
export interface GitContext extends RemoteContext {
  env: Record<string, string>
  scrub: SecretHider['scrub']
}

/** Options of a command that does not reach the remote. */
export interface LocalOptions {
  env?: Record<string, string>
  input?: string
  /** Most bytes of output, and the error for more. */
  most?: { bytes: number; fault: EdgewiseError }
}

/** Runs git for a clone of a repository. An interrupt ends its processes at once. */
export class CloneGit {
  readonly #location: string
  readonly #cwd: string
  readonly #env: Record<string, string>
  readonly #context: GitContext

  private constructor(
    location: string,
    cwd: string,
    env: Record<string, string>,
    context: GitContext,
  ) {
    this.#location = location
    this.#cwd = cwd
    this.#env = env
    this.#context = context
  }

  /** @param cwd an existing folder, where commands run that need no repository */
  static async open(
    { address, location }: { address: string; location: string },
    cwd: string,
    context: GitContext,
  ): Promise<CloneGit> {
    const env = withRemote(context.env, address)
    const git = new CloneGit(location, cwd, env, context)
    const found = await git.local(['config', '--get-regexp', '^core\\.sshcommand$'], null)
    return new CloneGit(location, cwd, withQuietSsh(env, splitLines(found.out)), context)
  }

  /**
   * Runs git without a limit of time.
   *
   * @param repository place, or folder of a bare repository; null for a command that needs none
   * @throws EdgewiseError `unavailable` after an interrupt, and `most.fault` for more output
   */
  async local(
    args: string[],
    repository: GitPlace | string | null,
    { env, input, most }: LocalOptions = {},
  ): Promise<GitResult> {
    const { signal } = this.#context
    const git = this.#createGit(repository, env)
    const excess = new AbortController()
    let left = most?.bytes ?? Infinity
    const onOutput = (bytes: number) => {
      if ((left -= bytes) < 0) excess.abort()
    }
    const result = await git(args, input, {
      signal: AbortSignal.any([signal, excess.signal]),
      onOutput,
    })
    if (signal.aborted) throw this.#createInterruptError()
    if (most !== undefined && left < 0) throw most.fault
    return result
  }

  /**
   * Runs git for a call to the remote. It is given up without output, and at an interrupt.
   *
   * @throws EdgewiseError `unavailable` for a remote that hangs, and after an interrupt
   */
  async network(args: string[], repository: string | null, input?: string): Promise<GitResult> {
    const { signal, limits = remoteLimits } = this.#context
    if (signal.aborted) throw this.#createInterruptError()
    // Each call has its own limits: a remote that hung an hour ago may answer now.
    const calls = new RemoteCalls(
      this.#createGit(repository),
      { name: remoteName, url: this.#location },
      { ...this.#context, limits: { ...limits, interruptedMs: 0 } },
    )
    try {
      return await calls.run(args, input)
    } catch (error) {
      if (!(error instanceof HangingRemoteError)) throw error
      if (signal.aborted) throw this.#createInterruptError()
      throw new EdgewiseError('unavailable', error.message, this.#advise(''))
    }
  }

  /** Creates the error of a failed call to the remote. */
  createRemoteError(result: GitResult): EdgewiseError {
    const reason = formatGitError(result)
    return new EdgewiseError(
      'unavailable',
      `the repository ${this.#location} can't be read: ${reason}`,
      this.#advise(reason),
    )
  }

  /** Creates the error of a commit that the remote does not have. */
  createAbsentError(commit: string): EdgewiseError {
    return new EdgewiseError(
      'unavailable',
      `the repository ${this.#location} has no commit ${commit}, or does not give it`,
      `Push the commit again, on any branch. The server must allow "git fetch" by the id of a ` +
        'commit (protocol version 2 does).',
    )
  }

  #createGit(repository: GitPlace | string | null, more: Record<string, string> = {}) {
    const outside = outsideRepositories(this.#cwd)
    const place =
      typeof repository === 'string'
        ? { ...outside, gitFolder: repository }
        : (repository ?? outside)
    // In a partial clone, git would fetch missing objects by itself, without a limit.
    const env = { ...this.#env, ...more, GIT_NO_LAZY_FETCH: '1' }
    return scrubErrors(createDetachedGit(place, env), this.#context.scrub)
  }

  #advise(reason: string): string {
    const command = `git ls-remote ${this.#location}`
    return (
      findAdvice({ command, address: this.#location }, reason) ??
      `Check that "${command}" works on this machine as this user.`
    )
  }

  #createInterruptError(): EdgewiseError {
    return new EdgewiseError('unavailable', 'git was ended by an interrupt', '')
  }
}

/**
 * Adds the remote to the settings in the environment. Its address, which may have a password, is
 * then neither on the disk nor in the arguments of git.
 */
function withRemote(env: Record<string, string>, address: string): Record<string, string> {
  const settings: [string, string][] = [
    [`remote.${remoteName}.url`, address],
    [`remote.${remoteName}.promisor`, 'true'],
    [`remote.${remoteName}.partialclonefilter`, 'blob:none'],
    // With older versions of the protocol, a server may refuse a commit by its id.
    ['protocol.version', '2'],
  ]
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  const added = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${given + i}`, key],
    [`GIT_CONFIG_VALUE_${given + i}`, value],
  ])
  return {
    ...env,
    ...Object.fromEntries(added),
    GIT_CONFIG_COUNT: String(given + settings.length),
  }
}
