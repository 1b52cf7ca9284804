import { spawn } from 'node:child_process'
import { decodeText } from '../../core/model/input-limits.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

const maxSeconds = 60
/** Maximum size of the value of a secret, bytes. */
export const maxSecretBytes = 1024 * 1024

interface CommandContext {
  env: Record<string, string | undefined>
  signal: AbortSignal
  /** Adds the secret and the place of its source to the reason of a failure. */
  explain(reason: string): string
}

/**
 * Runs the command of a secret without a shell in the workspace's folder, and returns its output
 * without one final line break. Asynchronous, so that the lock is renewed meanwhile.
 *
 * @throws EdgewiseError `access` if it fails or prints nothing
 */
export function runSecretCommand(
  root: string,
  [program = '', ...args]: string[],
  { env, signal, explain }: CommandContext,
): Promise<string> {
  const createError = (what: string) =>
    new EdgewiseError(
      'access',
      `${explain(`the command "${program}" ${what}`)}; no write that contains it was sent`,
      'Check the command, then run the same command of edgewise again.',
    )
  if (signal.aborted)
    return Promise.reject(createError('was not run, since edgewise was interrupted'))
  return new Promise((fulfil, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    let bytes = 0
    let failure: string | null = null
    const end = (reason: string) => {
      failure ??= reason
      child.kill('SIGKILL')
      // A grandchild may still have the pipe open.
      child.stdout.destroy()
    }
    const interrupt = () => end('was interrupted')
    const late = `failed (no answer within ${maxSeconds} s)`
    const timer = setTimeout(() => end(late), maxSeconds * 1000)
    signal.addEventListener('abort', interrupt, { once: true })
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxSecretBytes) end(`failed (it printed more than ${maxSecretBytes / 1024} KiB)`)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle()
      reject(createError(`failed (${error.code ?? 'unknown'})`))
    })
    child.on('close', (code, killedBy) => {
      settle()
      if (failure !== null) return reject(createError(failure))
      if (code !== 0)
        return reject(createError(`failed (${code === null ? killedBy : `exit ${code}`})`))
      const decoded = decodeText(Buffer.concat(chunks))
      if ('fault' in decoded) return reject(createError(`printed no text: ${decoded.fault}`))
      const value = trimLineBreak(decoded.text)
      if (value === '') return reject(createError('printed nothing'))
      fulfil(value)
    })
  })
}

/** Removes one final line break. */
export function trimLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}
