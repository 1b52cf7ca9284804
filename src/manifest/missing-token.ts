import { resolvePointer } from '../model/json.ts'
import { formatPlace } from '../model/problem.ts'
import type { Environment } from './workspace-env.ts'
import type { YamlDocument } from './yaml-file.ts'
import { findPlace } from './yaml-place.ts'

/** Explains in a clause why a workspace has no token: its environment variables, and its place. */
export function explainMissingToken(document: YamlDocument, env: Environment): string {
  const pointer = '/service/token'
  const written = resolvePointer(document.value, pointer)
  if (typeof written !== 'string') return explainVariables(['EDGEWISE_TOKEN'], env)
  const names = [...written.matchAll(/\$\$\{|\$\{env:([^}]*)\}/g)].flatMap(([, name]) => name ?? [])
  const reason = names.length === 0 ? 'service.token is empty' : explainVariables(names, env)
  return `${reason} (${formatPlace(findPlace(document, pointer))})`
}

/** Explains in a clause why variables of the environment have no value. */
export function explainVariables(names: string[], env: Environment): string {
  const unset = names.filter((name) => !Object.hasOwn(env, name) || env[name] === undefined)
  const named = unset.length > 0 ? unset : names
  const [noun, verb] = named.length === 1 ? ['variable', 'is'] : ['variables', 'are']
  const list = named.join(' and ')
  return `the environment ${noun} ${list} ${verb} ${unset.length > 0 ? 'not set' : 'empty'}`
}
