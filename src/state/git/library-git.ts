import { parseEnv } from '@simple-git/argv-parser'
import { simpleGit, type SimpleGitOptions } from 'simple-git'
import { createNoGitError, repeatInterrupted, type Git, type GitAttempt } from './git-command.ts'
import { gitSettings, withPlace, type GitPlace } from './git-environment.ts'

/**
 * Creates a runner of git with `simple-git`, for commands that may be repeated: an interrupt from
 * the terminal also reaches git, which is then run again. The module is large: load it on demand.
 * The runner throws GitPluginError of the library if arguments would start another program.
 */
export function createLibraryGit(place: GitPlace, given: Record<string, string>): Git {
  const env = withPlace(given, place)
  const unsafe = listAllowed(env)
  return (args, input) => repeatInterrupted(() => attempt(place.cwd, env, unsafe, args, input))
}

async function attempt(
  folder: string,
  env: Record<string, string>,
  unsafe: SimpleGitOptions['unsafe'],
  args: string[],
  input = '',
): Promise<GitAttempt> {
  let result: { exitCode: number | null; stdOut: Buffer[]; stdErr: Buffer[] } | undefined
  const git = simpleGit({
    baseDir: folder,
    config: gitSettings,
    allowEnvironment: Object.keys(env),
    unsafe,
    // By default the library drops unread output when git exits.
    completion: { onExit: false },
    // Without an input, the library leaves stdin open; an empty one closes it.
    input: () => Buffer.from(input),
    errors: (_error, given) => {
      result = given
      return undefined
    },
  })
  // After a command without output the library waits for 50 ms; an empty chunk ends that.
  git.env(env).outputHandler((_command, out) => {
    out.on('end', () => out.emit('data', Buffer.alloc(0)))
  })
  await git.raw(args)
  if (result === undefined) throw new TypeError('expected simple-git to report how git ended')
  const err = Buffer.concat(result.stdErr).toString('utf8')
  if (err.startsWith('Error: spawn git ENOENT')) throw createNoGitError()
  return {
    // The library has no exit code for a process that a signal ended.
    code: result.exitCode ?? 1,
    out: Buffer.concat(result.stdOut),
    err,
    interrupted: result.exitCode === null,
  }
}

const ours = ['allowUnsafeHooksPath', 'allowUnsafeFsMonitor', 'allowUnsafeProtocolOverride']

/**
 * Lists the categories that the library has to allow: our own settings that disable programs, and
 * those of the user's environment, such as an ssh command. Arguments that would start a program
 * stay refused.
 */
function listAllowed(env: Record<string, string>): SimpleGitOptions['unsafe'] {
  const categories = parseEnv(env).vulnerabilities.map(({ category }) => category)
  return Object.fromEntries([...ours, ...categories].map((name) => [name, true]))
}
