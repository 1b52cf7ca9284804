import { resolve } from 'node:path'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { decodeText } from '../../core/model/input-limits.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatPointerStep } from '../../core/model/json.ts'
import { getVariable, tokenVariable, type DatabaseSecrets } from '../workspace-file/credentials.ts'
import { explainFailure } from '../../files/explain-failure.ts'
import { explainVariables } from '../workspace-file/workspace-env.ts'
import { maxSecretBytes, runCommand, trimLineBreak } from './run-command.ts'
import type { SecretSource } from '../workspace-file/workspace.ts'

type Env = Record<string, string | undefined>

/**
 * Sources that may be used: `none` for commands that neither send nor compare values (`validate`,
 * `state`, `stats`, `prefetch`), `available` for variables and files (all others).
 */
export type SecretReach = 'none' | 'available'

/** Sources of the values of secrets. Only `run` starts a program. */
export interface SecretSources {
  /**
   * Returns the value of a secret without one final line break; null if it is not available.
   *
   * @throws EdgewiseError `access` if its file is in the checkout
   */
  lookUp(name: string): string | null
  /** Tests whether the value comes from a command. */
  isCommand(name: string): boolean
  /** Explains in a clause why a value is not available. */
  explain(name: string): string
  /**
   * Runs the command of a secret. Only allowed after consent to writes that contain the secret.
   *
   * @throws EdgewiseError `access` if it fails or prints nothing
   */
  run(name: string, signal: AbortSignal): Promise<string>
}

/** Secrets and variables that no program gets. */
export interface Withheld extends DatabaseSecrets {
  token: string
}

/** The allowed uses of a source, and its place. */
interface SecretChecks {
  reach: SecretReach
  /** Tests whether git has a file, by its path from the root, or would add it. */
  isCommitted(path: string): boolean
  /** Formats the place of a pointer in the workspace file. */
  locate(pointer: string): string
}

/** Minimum length of a value to look for inside others; a shorter one would match too often. */
const minLength = 8

/**
 * Creates the secret sources of a workspace.
 *
 * @param withheld hidden from every program
 */
export function createSecretSources(
  root: string,
  sources: Record<string, SecretSource>,
  env: Env,
  withheld: Withheld,
  { reach, isCommitted, locate }: SecretChecks,
): SecretSources {
  const find = (name: string) => (Object.hasOwn(sources, name) ? sources[name] : undefined)
  const addPlace = (name: string, reason: string) => {
    const [kind = ''] = Object.keys(find(name) ?? {})
    return `${reason} (${locate(`/secrets${formatPointerStep(name)}/${kind}`)})`
  }
  const load = (name: string, file: string) => {
    if (!isCommitted(file)) return loadValue(resolve(root, file), file)
    const fault = `the file ${file} is in the checkout and git does not ignore it`
    throw new EdgewiseError(
      'access',
      `secret ${name}: ${addPlace(name, fault)}`,
      'Move it out of the checkout, or add it to .gitignore.',
    )
  }
  return {
    lookUp: (name) => {
      const source = find(name)
      if (source === undefined || reach === 'none') return null
      if ('env' in source) return getVariable(env, source.env) || null
      return 'file' in source ? load(name, source.file).value : null
    },
    isCommand: (name) => 'command' in (find(name) ?? {}),
    explain: (name) => {
      const source = find(name)
      if (source === undefined) return 'edgewise.yaml defines no source of it'
      if ('env' in source) return addPlace(name, explainVariables([source.env], env))
      if ('command' in source) return addPlace(name, 'its command has not run yet')
      return addPlace(name, load(name, source.file).reason)
    },
    run: async (name, signal) => {
      const source = find(name)
      if (source === undefined || !('command' in source)) {
        throw new TypeError(`expected a command for the secret ${name}`)
      }
      const { command } = source
      const programEnv = buildProgramEnvironment(env, sources, withheld, 'secret')
      const ran = await runCommand(root, command, { env: programEnv, signal })
      const value = 'text' in ran ? trimLineBreak(ran.text) : ''
      if (value !== '') return value
      const why = 'fault' in ran ? ran.fault : `the command "${command[0]}" printed nothing`
      throw new EdgewiseError(
        'access',
        `secret ${name}: ${addPlace(name, why)}; no write that contains it was sent`,
        'Check the command, then run the same command of edgewise again.',
      )
    },
  }
}

/** Loads the values of secrets that don't come from a command, by name, for checks only. */
export function loadSecretsWithoutCommand(
  root: string,
  sources: Record<string, SecretSource>,
  env: Env,
): Map<string, string> {
  return new Map(
    Object.entries(sources).flatMap(([name, source]): [string, string][] => {
      if ('command' in source) return []
      const value =
        'env' in source
          ? getVariable(env, source.env)
          : loadValue(resolve(root, source.file), source.file).value
      return value === null || value === '' ? [] : [[name, value]]
    }),
  )
}

/** The content of a file without its final line break, or the reason why there is none. */
interface SecretFile {
  value: string | null
  reason: string
}

/**
 * Loads the value in a file.
 *
 * @param file its path as configured, for messages
 */
function loadValue(path: string, file: string): SecretFile {
  const bytes = loadBounded(path, maxSecretBytes)
  if (isFault(bytes)) {
    const why =
      bytes.kind === 'unreadable'
        ? `can't be read: ${explainFailure(bytes.code) ?? bytes.code}`
        : `can't be used: ${bytes.reason}`
    return { value: null, reason: `the file ${file} ${why}` }
  }
  const decoded = decodeText(bytes)
  if ('fault' in decoded)
    return { value: null, reason: `the file ${file} can't be used: ${decoded.fault}` }
  return { value: trimLineBreak(decoded.text) || null, reason: `the file ${file} is empty` }
}

/** Programs that the workspace file or an option names, and whether they get the token. */
export const programs = { secret: false, observed: true }

/** Builds the environment of a program: without credentials of Edgewise that it does not need. */
export function buildProgramEnvironment(
  env: Env,
  sources: Record<string, SecretSource>,
  { token, variables, passwords }: Withheld,
  kind: keyof typeof programs,
): Env {
  const ofSecrets = Object.values(sources).flatMap((each) => ('env' in each ? [each.env] : []))
  const values = ofSecrets.map((name) => getVariable(env, name))
  const named = [...ofSecrets, ...variables]
  const hidden = [
    programs[kind] ? '' : token,
    ...[...values, ...passwords].filter((each) => each.length >= minLength),
  ]
  const isVisible = ([name, value]: [string, string | undefined]) =>
    // The file may name another variable for the token.
    (name !== tokenVariable || holdsText(value, token)) &&
    // Other variables may contain a copy of the value.
    !named.includes(name) &&
    !hidden.some((text) => holdsText(value, text))
  return Object.fromEntries(Object.entries(env).filter(isVisible))
}

function holdsText(value: string | undefined, text: string): boolean {
  return text !== '' && value?.includes(text) === true
}
