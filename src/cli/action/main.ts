import { fileURLToPath } from 'node:url'
import { escapeData } from '../../core/model/text/github-log.ts'
import { runAction } from './run-action.ts'

const out = (text: string | Uint8Array) => void process.stdout.write(text)
try {
  process.exitCode = await runAction({
    env: process.env,
    // It only runs built, as dist/action/main.js.
    program: fileURLToPath(new URL('../cli/main.js', import.meta.url)),
    out,
  })
} catch (error) {
  const message = error instanceof Error ? `${error.message}${formatCause(error)}` : String(error)
  out(`::error::${escapeData(message)}\n`)
  process.exitCode = 1
}

/** Formats the cause of a failed fetch; its message does not contain it. */
function formatCause({ cause }: Error): string {
  return cause instanceof Error
    ? ` (${(cause as NodeJS.ErrnoException).code ?? cause.message})`
    : ''
}
