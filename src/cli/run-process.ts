import { setFlagsFromString } from 'node:v8'
import { standardError, standardOutput } from '../files/standard-output.ts'
import { DefectAfterWrites, CancelledError } from '../core/model/edgewise-error.ts'
import { createNodeOutside } from '../operations/runtime/node-outside.ts'
import { exitCodes, signalCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { run } from './program.ts'
import { guardText } from './terminal/output.ts'
import { isatty } from 'node:tty'
import { mayBeTerminal } from '../files/look.ts'
import { Script } from 'node:vm'

/** Time for what is left after a command that was interrupted, ms. */
const lingerMs = 5000

/** Runs the command line of this process, and returns its exit code. */
export async function runProcess(): Promise<number> {
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
  let mustEnd = false
  const endSoon = () => (mustEnd = true)
  const io = { ...createIo(interrupt.signal, () => handleSignal('SIGINT')), endSoon }
  let code: number
  try {
    code = await run(process.argv.slice(2), io)
    if (receivedSignal !== null) {
      code = signalCodes[receivedSignal]
      // A library that waits for its database must not keep the process alive.
      setTimeout(() => process.exit(), lingerMs).unref()
    }
  } catch (error) {
    code = await reportDefect(error)
  }
  return mustEnd ? await endProcess(code) : code
}

/** Ends the process when its output is written. */
async function endProcess(code: number): Promise<never> {
  await Promise.all([standardOutput.finish(), standardError.finish()])
  process.exit(code)
}

/**
 * Creates the ports of this process.
 *
 * @param onInterrupt called for a Ctrl-C during work that blocks the process
 */
function createIo(signal: AbortSignal, onInterrupt: () => void): Io {
  const prompt = (question: string) => promptOnTerminal(question, signal)
  const inIsTerminal = isTerminal(0)
  const outIsTerminal = isTerminal(1)
  const errIsTerminal = isTerminal(2)
  const isInteractive = inIsTerminal && errIsTerminal
  const outside = createNodeOutside(signal)
  return {
    ...outside,
    identifyToken: async (auth, token) =>
      (await import('../server/people/identify-token.ts')).identifyToken(auth, token, outside),
    runBlocking: (work) => runInterruptible(work, signal, onInterrupt),
    cwd: process.cwd(),
    out: (text) => standardOutput.write(text),
    err: (text) => standardError.write(text),
    columns: measureColumns(outIsTerminal ? standardOutput.open() : null, process.env),
    errColumns: measureColumns(errIsTerminal ? standardError.open() : null, process.env),
    outIsTerminal,
    errIsTerminal,
    openStdin: inIsTerminal ? null : () => process.stdin,
    ask: isInteractive ? (question) => askYesNo(question, prompt) : null,
    waitForStop: () =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    // Collects garbage each time the heap has grown by a quarter, instead of up to fourfold: each
    // call leaves some that only a collection of the whole heap removes. The heap has no limit.
    saveMemory: () => setFlagsFromString('--heap-growing-percent=25'),
  }
}

/** Measures the width of an output; without a terminal only COLUMNS limits it. */
function measureColumns(terminal: { columns?: number } | null, env: NodeJS.ProcessEnv): number {
  const width = terminal === null ? Number(env['COLUMNS'] ?? Infinity) : (terminal.columns ?? 0)
  return width >= 20 ? width : terminal === null ? Infinity : 80
}

/** Asks for a line; null at the end of the input and at an interrupt. */
async function promptOnTerminal(question: string, signal: AbortSignal): Promise<string | null> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: standardError.open() })
  // Otherwise Ctrl-C would only end the prompt.
  lines.once('SIGINT', () => process.emit('SIGINT', 'SIGINT'))
  // Ctrl-D closes it, and the question then has no end of its own.
  const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
  const answered = lines.question(question, { signal }).catch((error: Error) => {
    if (error.name === 'AbortError') return null
    throw error
  })
  try {
    const answer = await Promise.race([answered, closed])
    if (answer === null) standardError.write('\n')
    return answer
  } finally {
    lines.close()
  }
}

/** Prints an internal error, and returns the exit code. */
async function reportDefect(thrown: unknown): Promise<number> {
  const sent = thrown instanceof DefectAfterWrites
  const error = sent ? thrown.cause : thrown
  const { formatDoubts } = await import('../outlets/report/apply/text.ts')
  const note = sent
    ? [
        ' Writes may have been sent; those without a recorded outcome are in-doubt.',
        ...formatDoubts(thrown.doubts).map((line) => `in-doubt: ${line}`),
      ].join('\n')
    : ''
  standardError.write(
    guardText(
      `edgewise: internal error; please report this bug.${note}\n` +
        `${error instanceof Error ? error.stack : String(error)}\n`,
      false,
    ),
  )
  return sent ? exitCodes.incomplete : exitCodes.failed
}

/**
 * Tests whether a file descriptor is a terminal. Opens no stream, and loads the module of terminals
 * for what may be one only: both take time, and the stdin of a CI job is often the null device.
 */
function isTerminal(descriptor: number): boolean {
  const mayBe = process.platform === 'win32' || mayBeTerminal(descriptor)
  return mayBe && isatty(descriptor)
}

/**
 * Asks a question until the answer is clear: only the whole word is consent. An empty answer, and
 * the end of the input, mean no.
 *
 * @param prompt returns a line, or null at the end of the input
 */
export async function askYesNo(
  question: string,
  prompt: (question: string) => Promise<string | null>,
): Promise<boolean> {
  let text = `${question} Type "yes" to continue: `
  for (;;) {
    const answer = (await prompt(text))?.trim().toLowerCase() ?? ''
    if (answer === 'yes') return true
    if (['', 'n', 'no'].includes(answer)) return false
    text = 'The answer is unclear. Type "yes" or "no": '
  }
}

/** Global name of the work while a script runs it. */
const key = Symbol.for('edgewise.work')
const source = "globalThis[Symbol.for('edgewise.work')]()"

/**
 * Runs work that blocks this thread, so that Ctrl-C ends it: no handler of a signal can run
 * meanwhile, but Node can end a script.
 *
 * @param signal aborted by earlier signals, after which no work begins
 * @param interrupt called when Ctrl-C has ended the work
 * @throws CancelledError after an interrupt
 */
export function runInterruptible<T>(work: () => T, signal: AbortSignal, interrupt: () => void): T {
  const cancelled = new CancelledError('Interrupted before anything was changed')
  if (signal.aborted) throw cancelled
  try {
    Object.assign(globalThis, { [key]: work })
    return new Script(source).runInThisContext({ breakOnSigint: true }) as T
  } catch (error) {
    // Node creates the error in another realm, so it is no instance of Error here.
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
      throw error
    interrupt()
    throw cancelled
  } finally {
    Reflect.deleteProperty(globalThis, key)
  }
}
