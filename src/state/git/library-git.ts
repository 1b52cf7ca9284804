import { once } from 'node:events'
import { Readable } from 'node:stream'
import { parseEnv } from '@simple-git/argv-parser'
import { simpleGit, type SimpleGitOptions } from 'simple-git'
import { noAnswerIn, noGit, repeatInterrupted, type Git, type GitAttempt } from './git-command.ts'
import { gitSettings } from './git-environment.ts'

/**
 * Runs git by `simple-git`, for commands that may be repeated: an interrupt from the terminal
 * reaches the process too, and git is then run once more.
 * The module is large and loaded on demand.
 *
 * @throws GitPluginError of the library when arguments would start another program
 */
export function createLibraryGit(folder: string, env: Record<string, string>): Git {
  const unsafe = allowedBy(env)
  return (args, input, timeoutMs) =>
    repeatInterrupted(() => attempt(folder, env, unsafe, args, input, timeoutMs))
}

async function attempt(
  folder: string,
  env: Record<string, string>,
  unsafe: SimpleGitOptions['unsafe'],
  args: string[],
  input = '',
  timeoutMs?: number,
): Promise<GitAttempt> {
  const late = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), timeoutMs)
  let result: { exitCode: number | null; stdOut: Buffer[]; stdErr: Buffer[] } | undefined
  const git = simpleGit({
    baseDir: folder,
    config: gitSettings,
    abort: late.signal,
    allowEnvironment: Object.keys(env),
    unsafe,
    // By default the library drops what git has printed and nobody has read yet.
    completion: { onExit: false },
    // Without input, even an empty one, the library leaves stdin open.
    input: () => Buffer.from(input),
    errors: (_error, given) => {
      result = given
      return undefined
    },
  })
  git.env(env).outputHandler((_command, out, err) => {
    // After a command without output the library waits for 50 ms; an empty chunk ends that.
    out.on('end', () => out.emit('data', Buffer.alloc(0)))
    // What git started may outlive it, and hold its output open.
    late.signal.addEventListener('abort', () => {
      for (const stream of [out, err]) if (stream instanceof Readable) stream.destroy()
    })
  })
  try {
    // The library interrupts git and waits for its end, which git may put off.
    await Promise.race([git.raw(args), once(late.signal, 'abort')])
  } finally {
    clearTimeout(timer)
  }
  if (late.signal.aborted)
    return { code: 1, out: Buffer.alloc(0), err: noAnswerIn(timeoutMs ?? 0), interrupted: false }
  if (result === undefined) throw new TypeError('expected simple-git to report how git ended')
  const err = Buffer.concat(result.stdErr).toString('utf8')
  if (err.startsWith('Error: spawn git ENOENT')) throw noGit()
  return {
    // The library has no code for a process that a signal ended.
    code: result.exitCode ?? 1,
    out: Buffer.concat(result.stdOut),
    err,
    interrupted: result.exitCode === null,
  }
}

const ours = ['allowUnsafeHooksPath', 'allowUnsafeFsMonitor', 'allowUnsafeProtocolOverride']

/**
 * What the library may not refuse: settings of our own that switch programs off, and what the
 * user's environment asks for, such as an ssh command. Arguments that would start a program are
 * refused.
 */
function allowedBy(env: Record<string, string>): SimpleGitOptions['unsafe'] {
  const categories = parseEnv(env).vulnerabilities.map(({ category }) => category)
  return Object.fromEntries([...ours, ...categories].map((name) => [name, true]))
}
