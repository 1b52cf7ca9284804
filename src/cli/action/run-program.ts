import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import type { Env } from './inputs.ts'
import { delimiter, isAbsolute } from 'node:path'

/** Options for running the program. */
export interface ProgramOptions {
  /** File with the code of the program. */
  program: string
  cwd: string
  env: Env
  out(text: string | Uint8Array): void
  /** Takes a line of stdout, which is then not printed, or returns false. */
  takeLine?(line: string): boolean
}

/** An annotation that the program prints; no other text of its begins so. */
const annotation = /^::(?:error|warning) file=/

/**
 * Runs the program with its output between two marks, between which the runner executes no command
 * of the log. The second mark comes after all output, also that of programs it has started, which
 * is not on stdout; then come the program's annotations.
 *
 * @returns the exit code
 */
export async function runGuarded(words: string[], options: ProgramOptions): Promise<number> {
  const mark = randomBytes(32).toString('hex')
  let isLineEnd = true
  const annotations: string[] = []
  options.out(`::stop-commands::${mark}\n`)
  try {
    return await runPlain(words, {
      ...options,
      out: (chunk) => {
        isLineEnd = chunk.at(-1) === 10 || chunk.at(-1) === '\n'
        options.out(chunk)
      },
      takeLine: (line) => annotation.test(line) && annotations.push(`${line}\n`) > 0,
    })
  } finally {
    options.out(`${isLineEnd ? '' : '\n'}::${mark}::\n${annotations.join('')}`)
  }
}

/** Runs the program, whose output the runner reads, and returns the exit code. */
export function runPlain(
  words: string[],
  { program, cwd, env, out, takeLine }: ProgramOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (takeLine === undefined) child.stdout.on('data', (chunk: Buffer) => out(chunk))
    else
      createInterface(child.stdout).on('line', (line) => {
        if (!takeLine(line)) out(`${line}\n`)
      })
    child.stderr.on('data', (chunk: Buffer) => out(chunk))
    // The runner sends them to the action only. The program records calls in flight, and ends.
    const forward = (signal: NodeJS.Signals) => void child.kill(signal)
    const signals = ['SIGINT', 'SIGTERM'] as const
    for (const signal of signals) process.on(signal, forward)
    const settle = (end: () => void) => {
      for (const signal of signals) process.off(signal, forward)
      end()
    }
    child.on('error', (error) => settle(() => reject(error)))
    child.on('close', (code, signal) =>
      settle(() => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))),
    )
  })
}

/** Variables that make Node load files, or that let a program give the runner commands. */
const withheld = new RegExp(
  '^(INPUT_.*|NODE_.*|GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|' +
    'ACTIONS_(RUNTIME|CACHE|RESULTS)_.*)$',
  'i',
)

/**
 * Builds the environment of the program: without the inputs, among them the code host's token,
 * without settings of Node, and without folders of the checkout in PATH, where a pull request could
 * put a program named git. An empty PATH would be the current folder. Proxies, certificates and
 * secrets stay.
 *
 * @param isInCheckout whether a path leads into the checkout
 */
export function buildProgramEnvironment(env: Env, isInCheckout: (path: string) => boolean): Env {
  const path = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInCheckout(folder))
    .join(delimiter)
  const kept = Object.entries(env).filter(
    ([name]) => name === 'NODE_EXTRA_CA_CERTS' || !withheld.test(name),
  )
  return { ...Object.fromEntries(kept), PATH: path === '' ? '/nonexistent' : path }
}
