#!/usr/bin/env node
import { DefectAfterWrites } from '../operations/defect-after-writes.ts'
import { createNodeOutside } from '../operations/node-outside.ts'
import { formatDoubts } from '../report/apply/text.ts'
import { exitCodes, signalCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { run } from './program.ts'
import { askYesNo } from './terminal/ask-yes-no.ts'
import { guardText } from './terminal/guard-output.ts'
import { runInterruptible } from './terminal/run-interruptible.ts'

const interrupt = new AbortController()
let receivedSignal: 'SIGINT' | 'SIGTERM' | null = null

const handleSignal = (signal: 'SIGINT' | 'SIGTERM') => {
  // The second signal exits immediately; calls in flight are recorded as in-doubt.
  if (receivedSignal !== null) process.exit(signalCodes[signal])
  receivedSignal = signal
  interrupt.abort()
}
process.on('SIGINT', handleSignal)
process.on('SIGTERM', handleSignal)
// A failing stdout must not abort an apply: it continues and records its outcomes. A reader that
// closes the pipe early (`| head`) is not an error.
let outputError: string | null = null
process.stderr.on('error', () => undefined)
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') outputError ??= error.code ?? error.message
})
process.on('exit', (code) => {
  if (outputError === null) return
  process.stderr.write(
    `edgewise: the output could not be written (${outputError}); the command itself ended ` +
      `with exit code ${code}\n`,
  )
  if (code === exitCodes.done || code === exitCodes.differences) process.exitCode = exitCodes.failed
})

const isInteractive = process.stdin.isTTY && process.stderr.isTTY
const io: Io = {
  ...createNodeOutside(interrupt.signal),
  runBlocking: (work) => runInterruptible(work, interrupt.signal, () => handleSignal('SIGINT')),
  cwd: process.cwd(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  columns: (process.stdout.columns ?? 0) >= 20 ? process.stdout.columns : 80,
  outIsTerminal: process.stdout.isTTY ?? false,
  errIsTerminal: process.stderr.isTTY ?? false,
  stdin: process.stdin.isTTY ? null : process.stdin,
  ask: isInteractive ? (question) => askYesNo(question, prompt) : null,
  prompt: isInteractive ? prompt : null,
  waitForStop: () =>
    new Promise((resolve) =>
      interrupt.signal.addEventListener('abort', () => resolve(), { once: true }),
    ),
}

async function prompt(question: string): Promise<string | null> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Otherwise Ctrl-C would only end the prompt.
  lines.once('SIGINT', () => process.emit('SIGINT', 'SIGINT'))
  // Ctrl-D closes it, and the question then has no end of its own.
  const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
  const answered = lines.question(question, { signal: interrupt.signal }).catch((error: Error) => {
    if (error.name === 'AbortError') return null
    throw error
  })
  try {
    const answer = await Promise.race([answered, closed])
    if (answer === null) process.stderr.write('\n')
    return answer
  } finally {
    lines.close()
  }
}

try {
  const code = await run(process.argv.slice(2), io)
  process.exitCode = receivedSignal === null ? code : signalCodes[receivedSignal]
} catch (thrown) {
  const sent = thrown instanceof DefectAfterWrites
  const error = sent ? thrown.cause : thrown
  const note = sent
    ? [
        ' Writes may have been sent; those without a recorded outcome are in-doubt.',
        ...formatDoubts(thrown.doubts).map((line) => `in-doubt: ${line}`),
      ].join('\n')
    : ''
  process.stderr.write(
    guardText(
      `edgewise: internal error; please report this bug.${note}\n` +
        `${error instanceof Error ? error.stack : String(error)}\n`,
      false,
    ),
  )
  process.exitCode = sent ? exitCodes.incomplete : exitCodes.failed
}
