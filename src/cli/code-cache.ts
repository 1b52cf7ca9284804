import { readFileSync } from 'node:fs'
import { createRequire, type Module } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { Script } from 'node:vm'
import { attempt, findCacheFolder, loadOwn, replaceOwn } from '../files/cache-folder.ts'
import { isInside } from '../files/is-inside.ts'
import { findRepositoryFolder } from '../state/git/find-repository-folder.ts'
import { formatCode, parseCode } from './code-file.ts'
import { exitCodes } from './exit-codes.ts'

/** Number of files: one for each command, version of the program and version of Node. */
const maxFiles = 32

/** Whether this process saves compiled code when it exits. */
let isSaved = false

/** A file of the program that was compiled. */
interface Compiled {
  script: Script
  /** Code from the cache; absent if it had none for this source. */
  cached?: Buffer
}

/**
 * Compiles files of the program (`.cjs`) with the code that an earlier run of the same command has
 * left in the user's cache: V8 needs half of the time of a short command to compile them. Without
 * such code it is saved when the process exits.
 *
 * The cache is code: no file of a checkout may become one. Its folder has to be outside of the
 * repository of the current folder, and of every path in the arguments.
 *
 * @param build identifies this build of the program
 */
export function useCodeCache(
  build: string,
  args: readonly string[],
  env: Record<string, string | undefined>,
): void {
  const folder = attempt(() => findCodeFolder(args, env))
  if (folder === null) return
  const [command = ''] = args
  const kind = /^[a-z]+$/.test(command) ? command : 'other'
  const name = `code-${build}-${process.version}-${process.arch}-${kind}.bin`
  const codes = parseCode(attempt(() => loadOwn(join(folder, name))))
  const compiled = new Map<string, Compiled>()
  const { extensions } = createRequire(import.meta.url)
  extensions['.cjs'] = (module: Module, path: string) => {
    compiled.set(basename(path), runFile(module, path, codes.get(basename(path))))
  }
  isSaved = true
  process.once('exit', (code) => {
    const files = [...compiled]
    // Words that are no command fail, and leave no file.
    if (
      code === exitCodes.failed ||
      !isSaved ||
      files.every(([, { cached }]) => cached !== undefined)
    )
      return
    const all = new Map(
      files.map(([file, { script, cached }]) => [file, cached ?? script.createCachedData()]),
    )
    attempt(() => replaceOwn(folder, name, formatCode(all), /code-[\w.-]+\.bin/, maxFiles))
  })
}

/** Saves no code: it would hold for other settings of V8 than those of the next start. */
export function leaveCodeCache(): void {
  isSaved = false
}

/** Finds the folder of the cache; null if there is none, or an argument may bring it. */
function findCodeFolder(
  args: readonly string[],
  env: Record<string, string | undefined>,
): string | null {
  if (args.includes('--no-cache')) return null
  const folder = findCacheFolder(env)
  if (folder === null) return null
  const places = ['.', ...args.map((arg) => arg.replace(/^(?:-C|--\w+=)/, ''))]
  const isBrought = places
    .map((place) => resolve(place))
    .some((place) => {
      return isInside(findRepositoryFolder(place) ?? place, folder)
    })
  return isBrought ? null : folder
}

type Wrapper = (
  exports: unknown,
  require: (id: string) => unknown,
  module: Module,
  filename: string,
  folder: string,
) => void

/** Runs a CommonJS file as Node does, with code that was compiled before, if it fits. */
function runFile(module: Module, path: string, code: Buffer | undefined): Compiled {
  const head = '(function (exports, require, module, __filename, __dirname) { '
  const script = new Script(`${head}${readFileSync(path, 'utf8')}\n})`, {
    filename: path,
    columnOffset: -head.length,
    ...(code === undefined ? {} : { cachedData: code }),
  })
  const run = script.runInThisContext() as Wrapper
  run.call(module.exports, module.exports, (id) => module.require(id), module, path, dirname(path))
  return code === undefined || script.cachedDataRejected === true
    ? { script }
    : { script, cached: code }
}
