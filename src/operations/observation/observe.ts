import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { loadNamed } from '../../files/load-below.ts'
import { isFault } from '../../files/load-bounded.ts'
import { findKind, isExecutable } from '../../files/look.ts'
import { decodeText } from '../../core/model/input-limits.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Json } from '../../core/model/json.ts'
import { maxSearchedLength, type SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import { splitWords } from '../../core/model/text/split-words.ts'
import { escapeInvisibleInLines } from '../../outlets/report/text/escape-invisible.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import { ImportFile } from '../import/import-file.ts'
import type { Outside } from '../runtime/parts.ts'

/** Limits of the output and the run time of a program. */
interface Limits {
  bytes: number
  seconds: number
}

type World = Pick<Outside, 'env' | 'signal'> & { cwd: string }

const defaultLimits: Limits = { bytes: 256 * 1024 * 1024, seconds: 600 }
const maxStderrLength = 2000

/**
 * Loads the observed configuration of the service. A name that ends in `.json`, and an existing
 * file that is not executable, is loaded. Anything else is a program with arguments, separated by
 * blanks (`'…'` and `"…"` keep them), which runs without a shell in the current folder and prints
 * the configuration.
 *
 * @param scrub removes secrets from the stderr of the program
 * @throws EdgewiseError `not-observed` if the output is missing, too large, too late or no JSON
 */
export async function observe(
  source: string,
  io: World,
  scrub: SecretHider['scrub'],
  limits: Limits = defaultLimits,
): Promise<Json> {
  const bytes = isFile(source, io.cwd)
    ? loadBytes(source, io.cwd, limits)
    : await runProgram(splitWords(source), io, scrub, limits)
  const decoded = decodeText(bytes)
  if ('fault' in decoded) throw createError(source, decoded.fault)
  const { text } = decoded
  if (text.trim() === '') throw createError(source, 'expected JSON, got nothing')
  const file = new ImportFile({ name: source, text })
  const [fault] = file.diagnose()
  if (fault !== undefined)
    throw createError(source, `line ${fault.line}, column ${fault.column}: ${fault.detail}`)
  return file.data ?? null
}

function createError(source: string, why: string): EdgewiseError {
  return new EdgewiseError(
    'not-observed',
    `--observed ${source}: ${why}`,
    'Pass a file, or a program that prints {"<domain>": {"<item>": payload}}, or answers.',
  )
}

/** Tests whether an observed configuration is loaded from a file: else a program prints it. */
export function isFile(source: string, cwd: string): boolean {
  if (/\.json$/i.test(source) && !/\s/.test(source)) return true
  const path = resolve(cwd, source)
  return findKind(path) === 'file' && !isExecutable(path)
}

function loadBytes(source: string, cwd: string, { bytes }: Limits): Buffer {
  const loaded = loadNamed(resolve(cwd, source), bytes, findCheckout(cwd))
  if (!isFault(loaded)) return loaded
  if (loaded.kind === 'too-large')
    throw createError(source, `expected at most ${toMebibytes(bytes)} MiB, got more`)
  throw createError(
    source,
    loaded.kind === 'unreadable' ? `the file can't be read (${loaded.code})` : loaded.reason,
  )
}

function runProgram(
  [program = '', ...args]: string[],
  io: World,
  scrub: SecretHider['scrub'],
  limits: Limits,
): Promise<Buffer> {
  if (program === '') throw createError('', 'expected a file or a program, got nothing')
  // A name with a slash is relative to the current folder.
  const command = program.includes('/') ? resolve(io.cwd, program) : program
  return new Promise((fulfil, reject) => {
    const options = {
      cwd: io.cwd,
      env: io.env,
      maxBuffer: limits.bytes,
      timeout: limits.seconds * 1000,
      killSignal: 'SIGKILL',
      signal: io.signal,
      encoding: 'buffer',
    } as const
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) return fulfil(stdout)
      const scrubbed = scrub(markForeign(stderr.toString('utf8').slice(-maxSearchedLength)), [
        program,
        ...args,
      ]).slice(-maxStderrLength)
      const complaint = escapeInvisibleInLines(scrubbed.trim())
      reject(
        createError(
          program,
          `${explainFailure(error, limits)}${complaint === '' ? '' : `\n${complaint}`}`,
        ),
      )
    })
  })
}

function explainFailure(
  error: Error & {
    code?: number | string | null
    killed?: boolean
    signal?: NodeJS.Signals | null
  },
  limits: Limits,
): string {
  if (error.code === 'ENOENT') return 'no such file or program'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return `expected at most ${toMebibytes(limits.bytes)} MiB, the program printed more`
  if (error.name === 'AbortError') return 'interrupted'
  if (error.killed === true) return `the program did not finish within ${limits.seconds} s`
  if (typeof error.code === 'number') return `the program failed with exit code ${error.code}`
  return `the program can't be run (${error.code ?? error.signal ?? 'unknown'})`
}

function toMebibytes(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024)
}
