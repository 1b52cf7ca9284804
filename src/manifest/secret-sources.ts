import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { SecretSource } from './workspace.ts'

type Env = Record<string, string | undefined>

/** Which sources may be read: none (validate), or what lies at hand: variables and files. */
export type SecretReach = 'none' | 'at hand'

/** Where the values of secrets come from. Nothing but `run` starts a program. */
export interface SecretSources {
  /**
   * The value of a secret; null where it is not at hand. One line break at the end does not count.
   *
   * @throws EdgewiseError `access` when a file lies in the checkout
   */
  lookUp(name: string): string | null
  /** Whether a command gives the value. */
  isCommand(name: string): boolean
  /** Says why a value is not at hand, in a clause. */
  explain(name: string): string
  /**
   * Runs the command of a secret. To be called only after consent to writes that hold the secret.
   *
   * @throws EdgewiseError `access` when it fails or gives nothing
   */
  run(name: string, signal: AbortSignal): Promise<string>
}

const maxSeconds = 60
const maxBytes = 1024 * 1024
/** A value that is shorter could be a part of anything. */
const minWithin = 8

/** Makes the sources that the workspace names; `token` is kept from every program. */
export function createSecretSources(
  root: string,
  sources: Record<string, SecretSource>,
  env: Env,
  token: string,
  reach: SecretReach,
): SecretSources {
  const find = (name: string) => (Object.hasOwn(sources, name) ? sources[name] : undefined)
  return {
    lookUp: (name) => {
      const source = find(name)
      if (source === undefined || reach === 'none') return null
      if ('env' in source) return env[source.env] || null
      return 'file' in source ? readSecretFile(name, root, source.file, env, token).value : null
    },
    isCommand: (name) => 'command' in (find(name) ?? {}),
    explain: (name) => {
      const source = find(name)
      if (source === undefined) return 'edgewise.yaml names no source'
      if ('env' in source) return `the variable ${source.env} is not set`
      if ('command' in source) return 'its command was not run yet'
      return readSecretFile(name, root, source.file, env, token).why
    },
    run: async (name, signal) => {
      const source = find(name)
      if (source === undefined || !('command' in source)) {
        throw new TypeError(`expected a command for the secret ${name}`)
      }
      const own = programEnvironment(env, sources, token)
      return runCommand(name, root, source.command, { env: own, signal })
    },
  }
}

/** Reads the values of secrets that need no command to run. They are for comparison only. */
export function loadSecretsWithoutCommand(
  root: string,
  sources: Record<string, SecretSource>,
  env: Env,
): string[] {
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

/** The content of a file without the line break at its end, or why there is none. */
interface SecretFile {
  value: string | null
  why: string
}

function readSecretFile(
  name: string,
  root: string,
  file: string,
  // For git, which says whether the file is ignored.
  env: Env,
  token: string,
): SecretFile {
  const path = resolve(root, file)
  if (!relative(root, path).startsWith('..') && tracked(root, path, env, token)) {
    throw new EdgewiseError(
      'access',
      `the file of the secret "${name}" (${file}) lies in the checkout and git does not ignore it`,
      'Move it out, or add it to .gitignore.',
    )
  }
  try {
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '') || null
    return { value, why: `the file ${file} is empty` }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return { value: null, why: `the file ${file} can't be read (${code})` }
  }
}

/** Whether git would take a file in. Outside a repository nothing can be committed. */
function tracked(root: string, path: string, env: Env, token: string): boolean {
  try {
    // A file system monitor of the repository would run here.
    const settings = ['-c', 'core.fsmonitor=false', '-C', root]
    const args = [...settings, 'check-ignore', '-q', '--', path]
    execFileSync('git', args, { stdio: 'ignore', env: forGit(env, token) })
    return false
  } catch (error) {
    // 1: not ignored; 128: no repository; ENOENT: no git at all.
    return (error as { status?: number }).status === 1
  }
}

/** Picks what git needs to find its settings, and nothing that may be secret. */
function forGit(env: Env, token: string): Env {
  const folders = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SYSTEMROOT']
  const names = [...folders, 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM']
  const given = names.map((name): [string, string | undefined] => [name, env[name]])
  return Object.fromEntries(given.filter(([, value]) => !holdsText(value, token)))
}

/**
 * Leaves out of the environment whatever holds the token, and the secrets that variables give: a
 * command gives one secret and has no business with the others.
 */
function programEnvironment(env: Env, sources: Record<string, SecretSource>, token: string): Env {
  const named = Object.values(sources).flatMap((source) => ('env' in source ? [source.env] : []))
  const values = named.map((name) => env[name] ?? '')
  const hidden = [token, ...values.filter((value) => value.length >= minWithin)]
  const isOpen = ([name, value]: [string, string | undefined]) =>
    // The name alone would let copies of the value through.
    !named.includes(name) && !hidden.some((text) => holdsText(value, text))
  return Object.fromEntries(Object.entries(env).filter(isOpen))
}

function holdsText(value: string | undefined, text: string): boolean {
  return text !== '' && value?.includes(text) === true
}

/** Runs without a shell in the workspace's folder; the lock is kept alive meanwhile. */
function runCommand(
  name: string,
  root: string,
  [program = '', ...args]: string[],
  { env, signal }: { env: Env; signal: AbortSignal },
): Promise<string> {
  const failed = (what: string) =>
    new EdgewiseError(
      'access',
      `the secret "${name}" is not at hand: the command "${program}" ${what}; no write that holds it was sent`,
      'See "secrets" in edgewise.yaml.',
    )
  if (signal.aborted) return Promise.reject(failed('was not run, since edgewise was interrupted'))
  return new Promise((fulfil, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    let bytes = 0
    let why: string | null = null
    const end = (reason: string) => {
      why ??= reason
      child.kill('SIGKILL')
      // A grandchild may still hold the pipe.
      child.stdout.destroy()
    }
    const interrupt = () => end('was interrupted')
    const late = `failed (no answer within ${maxSeconds} s)`
    const timer = setTimeout(() => end(late), maxSeconds * 1000)
    signal.addEventListener('abort', interrupt, { once: true })
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) end(`failed (it printed more than ${maxBytes / 1024} KiB)`)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle()
      reject(failed(`failed (${error.code ?? 'unknown'})`))
    })
    child.on('close', (code, killedBy) => {
      settle()
      if (why !== null) return reject(failed(why))
      if (code !== 0) return reject(failed(`failed (${code === null ? killedBy : `exit ${code}`})`))
      const value = Buffer.concat(chunks)
        .toString('utf8')
        .replace(/\r?\n$/, '')
      if (value === '') return reject(failed('gave nothing'))
      fulfil(value)
    })
  })
}
