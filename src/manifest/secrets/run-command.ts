import { spawn } from 'node:child_process'
import { decodeText } from '../../core/model/input-limits.ts'

/** Maximum size of the value of a secret, and of what a command prints, bytes. */
export const maxSecretBytes = 1024 * 1024

interface CommandContext {
  env: Record<string, string | undefined>
  signal: AbortSignal
}

/** What a command printed, or in a clause about it why that can't be used. */
export type Ran = { text: string } | { fault: string }

/**
 * Runs a command without a shell in the workspace's folder. Asynchronous, so that the lock is
 * renewed meanwhile.
 */
export function runCommand(
  root: string,
  [program = '', ...args]: readonly string[],
  { env, signal }: CommandContext,
): Promise<Ran> {
  const explain = (what: string) => ({ fault: `the command "${program}" ${what}` })
  if (signal.aborted) return Promise.resolve(explain('was not run, since edgewise was interrupted'))
  return new Promise((fulfil) => {
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
    const timer = setTimeout(() => end('failed (no answer within 60 s)'), 60_000)
    signal.addEventListener('abort', interrupt, { once: true })
    const settle = (ran: Ran) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
      fulfil(ran)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxSecretBytes) end(`failed (it printed more than ${maxSecretBytes / 1024} KiB)`)
    })
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      settle(explain(`failed (${code ?? 'unknown'})`)),
    )
    child.on('close', (code, killedBy) => {
      if (failure !== null) return settle(explain(failure))
      if (code !== 0)
        return settle(explain(`failed (${code === null ? killedBy : `exit ${code}`})`))
      const decoded = decodeText(Buffer.concat(chunks))
      settle('fault' in decoded ? explain(`printed no text: ${decoded.fault}`) : decoded)
    })
  })
}

/** Removes one final line break. */
export function trimLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}
