import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, parseJson } from '../../core/model/json.ts'
import { ownVariables } from '../../manifest/workspace-file/credentials.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { signalCodes } from '../exit-codes.ts'

/** Limits of a process that works on what others have written; seconds of processor time. */
export interface OwnLimits {
  seconds: number
  megabytes: number
}

/** What a process has taken: memory, MB, and processor time with that of its ended children, s. */
export interface OwnUse {
  megabytes: number
  seconds: number
}

/** Limits of a commit: those of a plan for 10,000 domains, and plenty more. */
export const ownLimits: OwnLimits = { seconds: 60, megabytes: 1024 }

/**
 * So many times the processor time may pass by the clock: a process of low priority waits for
 * others, and one that hangs takes no processor.
 */
const maxWait = 10

/** End of a process of this program. */
export interface OwnEnd {
  /** Null if it was ended by a signal. */
  code: number | null
  /** The error that it printed as JSON; null without one. */
  error: EdgewiseError | null
  /** What it printed on stdout, up to a megabyte. */
  out: string
  /** The exceeded limit, such as "more than 60 seconds"; null if it ended by itself. */
  excess: string | null
}

/** Runs this program with other arguments. */
export type RunOwn = (args: string[], outside: Pick<Outside, 'env' | 'signal'>) => Promise<OwnEnd>

/** Bytes of the answer of the process that are kept: an error is short, a plan is not needed. */
const maxBytes = 1024 * 1024
/** Interval at which the memory is measured, ms. */
const measureMs = 250
/** Priority below that of this process: it must not take the processor from the leader. */
const niceness = 10
/** Exit codes of this program after SIGINT and SIGTERM. */
const interruptedCodes: (number | null)[] = Object.values(signalCodes)

/**
 * Creates the function that runs this program in a separate process, within limits. It throws
 * `unavailable` if the process can't run or is interrupted.
 *
 * @param measureUse measures what a process takes; null where that is not known: then the clock
 *   counts
 * @param program what Node runs
 */
export function createOwnProcesses(
  measureUse: (pid: number) => OwnUse | null,
  { seconds, megabytes }: OwnLimits = ownLimits,
  program = [...process.execArgv, process.argv[1] ?? ''],
): RunOwn {
  const longest = measureUse(process.pid) === null ? seconds : seconds * maxWait
  return (args, { env, signal }) =>
    new Promise((resolve, reject) => {
      const own = [`--max-old-space-size=${megabytes}`, ...program, ...args]
      const child = spawn(process.execPath, own, {
        env: withhold(env),
        stdio: ['ignore', 'pipe', 'pipe'],
        signal,
        // A process that parses hears of no other signal.
        killSignal: 'SIGKILL',
      })
      if (child.pid !== undefined) lowerPriority(child.pid)
      const tooMuch = `more than ${megabytes} MB of memory`
      let excess: string | null = null
      const end = (reason: string): void => {
        excess ??= reason
        child.kill('SIGKILL')
      }
      const timer = setTimeout(() => end(`more than ${longest} seconds`), longest * 1000)
      const meter = setInterval(() => {
        const use = measureUse(child.pid ?? 0) ?? { megabytes: 0, seconds: 0 }
        if (use.megabytes > megabytes) end(tooMuch)
        if (use.seconds > seconds) end(`more than ${seconds} seconds of processor time`)
      }, measureMs)
      const chunks: Buffer[] = []
      let size = 0
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
      })
      let isFull = false
      child.stderr.on('data', (chunk: Buffer) => {
        isFull ||= chunk.includes('heap out of memory')
      })
      const fail = (why: string) => reject(new EdgewiseError('unavailable', why))
      child.on('error', ({ message }) =>
        fail(
          signal.aborted ? 'edgewise was interrupted' : `edgewise can't run a process: ${message}`,
        ),
      )
      child.on('close', (code, by) => {
        clearTimeout(timer)
        clearInterval(meter)
        if (by === 'SIGABRT' && isFull) excess ??= tooMuch
        if (by === 'SIGABRT' || by === 'SIGKILL')
          excess ??= `more than the process survives (${by}, perhaps for its memory)`
        // A container that stops, and Ctrl-C, end this process and its children.
        if (excess === null && (by !== null || interruptedCodes.includes(code)))
          return fail(`a process of edgewise was interrupted (${by ?? `exit ${code}`})`)
        const out = Buffer.concat(chunks).toString()
        resolve({ code, out, error: parseError(out), excess })
      })
    })
}

/** Neither credentials of the server nor traces of its own belong to the process. */
function withhold(env: Outside['env']): Outside['env'] {
  const isOwn = (name: string) =>
    /^(OTEL|EDGEWISE_SERVE)_/.test(name) || ownVariables.includes(name)
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOwn(name)))
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, niceness)
  } catch (error) {
    // The process has ended already, or the system forbids it.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** Parses the error that a command has printed as JSON; null if it has printed none. */
function parseError(out: string): EdgewiseError | null {
  const parsed = parseJson(out.trim().split('\n').at(-1) ?? '')
  if (!isObject(parsed) || parsed['format'] !== 'edgewise.error/1') return null
  const { code, message, hint, diagnostics } = parsed as unknown as EdgewiseError
  return new EdgewiseError(code, message, hint, diagnostics)
}
