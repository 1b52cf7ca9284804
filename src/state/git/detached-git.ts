import { spawn } from 'node:child_process'
import {
  createNoGitError,
  repeatInterrupted,
  type GitAttempt,
  type GitWatch,
  type WatchedGit,
} from './git-command.ts'
import { gitSettings, withPlace, type GitPlace } from './git-environment.ts'

/**
 * Creates a runner of git in a separate process group: an interrupt from the terminal then reaches
 * Edgewise, but not its pushes and ref updates. `simple-git` ignores `detached`.
 *
 * An interrupt can still end a new process before it has its group. It has not started git yet, so
 * it is repeated.
 */
export function createDetachedGit(place: GitPlace, env: Record<string, string>): WatchedGit {
  const placed = withPlace(env, place)
  return (args, input, watch) =>
    repeatInterrupted(() => attempt(place.cwd, placed, args, input, watch))
}

function attempt(
  folder: string,
  env: Record<string, string>,
  args: string[],
  input = '',
  watch?: GitWatch,
): Promise<GitAttempt> {
  const ended = { code: 1, out: Buffer.alloc(0), err: '', interrupted: false }
  if (watch?.signal.aborted === true) return Promise.resolve(ended)
  return new Promise((resolve, reject) => {
    const settings = gitSettings.flatMap((setting) => ['-c', setting])
    const child = spawn('git', [...settings, ...args], {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    // A process that has left the group may keep the output open.
    const giveUp = () => {
      kill(child.pid)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(ended)
    }
    watch?.signal.addEventListener('abort', giveUp)
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', ({ length }: Buffer) => watch?.onOutput(length))
    child.on('error', (error: NodeJS.ErrnoException) => {
      watch?.signal.removeEventListener('abort', giveUp)
      reject(error.code === 'ENOENT' ? createNoGitError() : error)
    })
    child.on('close', (code, signal) => {
      watch?.signal.removeEventListener('abort', giveUp)
      resolve({
        code: code ?? 1,
        out: Buffer.concat(out),
        err: Buffer.concat(err).toString('utf8'),
        interrupted: signal === 'SIGINT' || signal === 'SIGTERM',
      })
    })
    // A process that ends before it has read its input reports the reason on stderr.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error)
    })
    child.stdin.end(input)
  })
}

/** Ends the process and everything it started. */
function kill(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
