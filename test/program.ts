import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CommandResult, Place } from './steps/cli.ts'

const built = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const sources = fileURLToPath(new URL('../src', import.meta.url))

/**
 * Finds what Node runs as this program: the build, which starts in a fraction of the time, or the
 * sources if one of them was changed after it; looks once in each process.
 */
export function findProgram(): string[] {
  return (found ??= findNewest())
}

let found: string[] | null = null

function findNewest(): string[] {
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isOlder = readdirSync(sources, { recursive: true, encoding: 'utf8' }).some(
    (path) => statSync(join(sources, path)).mtimeMs > builtAt,
  )
  if (!isOlder) return [built]
  return ['--import', import.meta.resolve('tsx'), join(sources, 'cli/main.ts')]
}

/** Runs the program in a folder, without a terminal. */
export function runProgram(
  { root, env }: Pick<Place, 'root' | 'env'>,
  ...args: string[]
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { PATH: process.env['PATH'], ...env } }
    execFile(process.execPath, [...findProgram(), ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}
