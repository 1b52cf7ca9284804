import { resolvePointer } from '../model/json.ts'
import { formatPlace } from '../model/problem.ts'
import { listVariables, type Environment } from './workspace-env.ts'
import type { YamlDocument } from './yaml-file.ts'
import { findPlace } from './yaml-place.ts'

/** Values without which a workspace can be loaded. */
export type LateValue = '/service/token' | '/state/url'

/** Explains in a clause why such a value is missing: its environment variables, and its place. */
export function explainMissing(
  document: YamlDocument,
  env: Environment,
  pointer: LateValue,
): string {
  const written = resolvePointer(document.value, pointer)
  if (typeof written !== 'string') return explainVariables(['EDGEWISE_TOKEN'], env)
  const names = listVariables(written)
  const key = pointer.slice(1).replace('/', '.')
  const reason = names.length === 0 ? `${key} is empty` : explainVariables(names, env)
  return `${reason} (${formatPlace(findPlace(document, pointer))})`
}

/**
 * Explains in a clause why the token can't be one, without showing it; null if it can. A token has
 * visible characters only: a file or a clipboard often adds a line break.
 */
export function explainTokenFault(
  document: YamlDocument,
  env: Environment,
  token: string,
): string | null {
  const fault = findTokenFault(token)
  if (fault === null) return null
  const written = resolvePointer(document.value, '/service/token')
  const names = typeof written === 'string' ? listVariables(written) : ['EDGEWISE_TOKEN']
  const name = names.find((each) => findTokenFault(env[each] ?? '') !== null)
  const place =
    written === undefined ? '' : ` (${formatPlace(findPlace(document, '/service/token'))})`
  const subject = name === undefined ? 'service.token' : `the environment variable ${name}`
  return `${subject} has ${fault}${place}`
}

function findTokenFault(token: string): string | null {
  const found = /[\s\p{C}]+/u.exec(token)
  if (found === null) return null
  const [text] = found
  const what = /[\r\n]/.test(text)
    ? 'a line break'
    : /\s/.test(text)
      ? 'a blank'
      : 'a control character'
  const isAtEnd = found.index + text.length === token.length
  return `${what} ${found.index === 0 ? 'at its start' : isAtEnd ? 'at its end' : 'in it'}`
}

/** Explains in a clause why variables of the environment have no value. */
export function explainVariables(names: string[], env: Environment): string {
  const unset = names.filter((name) => !Object.hasOwn(env, name) || env[name] === undefined)
  const empty = names.filter((name) => !unset.includes(name) && env[name] === '')
  const named = [unset, empty, names].find((each) => each.length > 0) ?? []
  const [noun, verb] = named.length === 1 ? ['variable', 'is'] : ['variables', 'are']
  const list = named.join(' and ')
  return `the environment ${noun} ${list} ${verb} ${unset.length > 0 ? 'not set' : 'empty'}`
}
