import { execFile } from 'node:child_process'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Json } from '../model/json.ts'
import { escapeInvisibleInLines } from '../report/text/escape-invisible.ts'
import { parseJson } from '../model/json.ts'
import type { Io } from './io.ts'

/** How much an answer may be, and how long a program may take for it. */
interface Limits {
  bytes: number
  seconds: number
}

type World = Pick<Io, 'cwd' | 'env' | 'signal'>

const usual: Limits = { bytes: 256 * 1024 * 1024, seconds: 600 }
const mostComplaint = 2000

/**
 * What somebody saw at the service. A name that ends in `.json`, and an existing file that can't be
 * executed, is read; anything else is a program with arguments, separated by blanks (`'…'` and
 * `"…"` keep them), run without a shell in the current folder. Its standard output is the answer.
 *
 * @param scrub takes secrets out of what the program complains
 * @throws EdgewiseError `not-observed` when there is no answer, or one that is too large, late or
 * no JSON
 */
export async function observe(
  source: string,
  io: World,
  scrub: (text: string) => string,
  limits: Limits = usual,
): Promise<Json> {
  const text = isFile(source, io.cwd)
    ? readText(source, io.cwd, limits)
    : await outputOf(wordsOf(source), io, scrub, limits)
  const data = parseJson(text)
  if (data === undefined)
    throw failed(source, `expected JSON, got ${text.trim() === '' ? 'nothing' : 'something else'}`)
  return data
}

function failed(source: string, why: string): EdgewiseError {
  return new EdgewiseError(
    'not-observed',
    `--observed ${source}: ${why}`,
    'Expected a file, or a program that prints {"<domain>": {"<item>": payload}}.',
  )
}

function isFile(source: string, cwd: string): boolean {
  if (/\.json$/i.test(source) && !/\s/.test(source)) return true
  const path = resolve(cwd, source)
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && !isExecutable(path)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return false
    throw error
  }
}

function readText(source: string, cwd: string, { bytes }: Limits): string {
  const path = resolve(cwd, source)
  try {
    const { size } = statSync(path)
    if (size > bytes) throw failed(source, `expected at most ${mebibytes(bytes)} MiB, got more`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof EdgewiseError) throw error
    throw failed(
      source,
      `the file can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    )
  }
}

/**
 * The words of a command line: blanks part them, quotes keep blanks. Nothing else has a meaning.
 */
function wordsOf(source: string): string[] {
  return Array.from(source.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+/g), ([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}

function outputOf(
  [program = '', ...args]: string[],
  io: World,
  scrub: (text: string) => string,
  limits: Limits,
): Promise<string> {
  if (program === '') throw failed('', 'expected a file or a program, got nothing')
  // A name with a slash is meant from the current folder.
  const command = program.includes('/') ? resolve(io.cwd, program) : program
  return new Promise((fulfil, reject) => {
    const options = {
      cwd: io.cwd,
      env: io.env,
      maxBuffer: limits.bytes,
      timeout: limits.seconds * 1000,
      killSignal: 'SIGKILL',
      signal: io.signal,
    } as const
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) return fulfil(stdout)
      const complaint = escapeInvisibleInLines(scrub(stderr.slice(-mostComplaint)).trim())
      reject(failed(program, `${whyOf(error, limits)}${complaint === '' ? '' : `\n${complaint}`}`))
    })
  })
}

function whyOf(
  error: Error & {
    code?: number | string | null
    killed?: boolean
    signal?: NodeJS.Signals | null
  },
  limits: Limits,
): string {
  if (error.code === 'ENOENT') return 'there is no such file or program'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return `expected at most ${mebibytes(limits.bytes)} MiB, the program printed more`
  if (error.name === 'AbortError') return 'interrupted'
  if (error.killed === true) return `the program gave no answer within ${limits.seconds} s`
  if (typeof error.code === 'number') return `the program failed with exit code ${error.code}`
  return `the program can't be run (${error.code ?? error.signal ?? 'unknown'})`
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024)
}
