import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { SecretSource } from './workspace.ts'

type Env = Record<string, string | undefined>

/** What may be asked for secrets: nothing (validate), what lies at hand (plan), or commands as well (apply). */
export type SecretReach = 'none' | 'at hand' | 'all'

/**
 * Looks secrets up where the workspace says. One line break at the end of a file or of a command's output does not count.
 *
 * @returns null where the value is not at hand
 * @throws EdgewiseError `access` when a file lies in the checkout, or (reach `all`) when a source fails
 */
export function secretLookUp(
  root: string,
  sources: Record<string, SecretSource>,
  env: Env,
  reach: SecretReach,
): (name: string) => string | null {
  return (name) => {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined
    if (source === undefined || reach === 'none') return null
    if ('env' in source) return env[source.env] || null
    if ('file' in source) return fromFile(name, root, source.file, reach, env)
    return reach === 'all' ? fromCommand(name, root, source.command) : null
  }
}

/** Reads the values of secrets that need no command to run. They are for comparison only. */
export function secretsWithoutCommand(root: string, sources: Record<string, SecretSource>, env: Env): string[] {
  return Object.values(sources).flatMap((source) => {
    if ('command' in source) return []
    const value = 'env' in source ? env[source.env] : smallFile(resolve(root, source.file))
    return value === undefined ? [] : [value.replace(/\r?\n$/, '')]
  })
}

/** The text of a regular file of at most a megabyte; other files may have no end. */
function smallFile(path: string): string | undefined {
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= 1024 * 1024 ? readFileSync(path, 'utf8') : undefined
  } catch (error) {
    // A file that can't be read tells no value.
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

function fromFile(name: string, root: string, file: string, reach: SecretReach, env: Env): string | null {
  const path = resolve(root, file)
  if (!relative(root, path).startsWith('..') && tracked(root, path, env)) {
    throw new EdgewiseError(
      'access',
      `the file of the secret "${name}" (${file}) lies in the checkout and git does not ignore it`,
      'Move it out, or add it to .gitignore.',
    )
  }
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '') || null
  } catch (error) {
    if (reach !== 'all') return null
    throw failed(name, `the file ${file} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

/** Whether git would take a file in. Outside a repository nothing can be committed. */
function tracked(root: string, path: string, env: Env): boolean {
  try {
    execFileSync('git', ['-C', root, 'check-ignore', '-q', '--', path], { stdio: 'ignore', env: forGit(env) })
    return false
  } catch (error) {
    // 1: not ignored; 128: no repository; ENOENT: no git at all.
    return (error as { status?: number }).status === 1
  }
}

/** What git needs to find its settings, and nothing that may be secret. */
function forGit(env: Env): Env {
  const names = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SYSTEMROOT', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM']
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

function fromCommand(name: string, root: string, [program = '', ...args]: string[]): string | null {
  try {
    const output = execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 })
    return output.replace(/\r?\n$/, '') || null
  } catch (error) {
    const { status, code } = error as { status?: number | null; code?: string }
    throw failed(name, `the command "${program}" failed (${typeof status === 'number' ? `exit ${status}` : (code ?? 'unknown')})`)
  }
}

function failed(name: string, why: string): EdgewiseError {
  return new EdgewiseError('access', `the secret "${name}" is not at hand: ${why}`, 'See "secrets" in edgewise.yaml.')
}
