import { mapParts, type Json, type JsonObject, resolvePointer } from '../../core/model/json.ts'
import type { Finding } from '../manifests/finding.ts'
import { formatPlace } from '../../core/model/problem.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'

export type Environment = Record<string, string | undefined>

/** Parts of the workspace file in which variables are replaced. */
export const environmentSections = ['service', 'state', 'secrets', 'notify', 'serve']
/** Values that may be missing: an unset or empty variable makes all of the value empty. */
const optional =
  /^\/(?:state\/url|notify\/\d+\/(?:url|secret)|serve\/auth\/(?:issuer|client(?:Id|Secret)))$/
/** Part of a section in which no variables are replaced: programs that it names get their own. */
const unreplaced = /^\/serve\/(?!auth(?:\/|$))/

/**
 * Replaces `${env:NAME}` under `service`, `state`, `secrets`, `notify` and `serve.auth` of the
 * workspace file; `$${` becomes `${` there. An unset variable of the token becomes an empty string;
 * an unset or empty one of the database's address, of a receiver or of the provider makes the whole
 * value empty. Any other unset variable is a finding, and so is a reference to the environment
 * elsewhere.
 */
export function replaceEnvironment(
  content: JsonObject,
  env: Environment,
): { value: JsonObject; findings: Finding[] } {
  const findings: Finding[] = []
  const value = mapParts(content, '', (section, at) => {
    const isReplaced = environmentSections.includes(at.slice(1))
    return replaceValue(section, at, isReplaced ? env : null, findings)
  })
  return { value: value as JsonObject, findings }
}

function replaceValue(
  value: Json,
  pointer: string,
  env: Environment | null,
  findings: Finding[],
): Json {
  if (typeof value === 'string')
    return env === null || unreplaced.test(pointer)
      ? checkUnchanged(value, pointer, findings)
      : replaceText(value, pointer, env, findings)
  return mapParts(value, pointer, (part, at) => replaceValue(part, at, env, findings))
}

function checkUnchanged(text: string, pointer: string, findings: Finding[]): string {
  if (/(?<!\$)\$\{env:/.test(text)) {
    const detail =
      '"${env:…}" is allowed under service, state, secrets, notify and serve.auth only. For a ' +
      'secret in a manifest, define it under "secrets" and refer to it with "${secret:NAME}".'
    findings.push({
      code: 'reference-unknown',
      pointer,
      summary: 'Reference not allowed here',
      detail,
    })
  }
  return text
}

function replaceText(text: string, pointer: string, env: Environment, findings: Finding[]): string {
  const report = (detail: string) =>
    findings.push({
      code: 'reference-unknown',
      pointer,
      summary: 'Undefined reference',
      detail,
    })
  const isOptional = optional.test(pointer)
  let isKnown = true
  const replaced = text.replace(
    /\$\$\{|\$\{(?:([^{}]*)\})?/g,
    (match, reference: string | undefined) => {
      if (match === '$${') return '${'
      const name = reference?.startsWith('env:') === true ? reference.slice('env:'.length) : null
      if (name === null) {
        report(`expected "\${env:NAME}", got "${match}". Write "$\${" for a literal "\${".`)
        return match
      }
      const value = Object.hasOwn(env, name) ? env[name] : undefined
      if (value === undefined || value === '') isKnown = false
      if (value !== undefined) return value
      // `plan` and `validate` need no token and no receiver, `validate` no database: a pull request
      // from a fork has none of them.
      if (pointer !== '/service/token' && !isOptional)
        report(`the environment variable "${name}" is not set. Set it before running edgewise.`)
      return ''
    },
  )
  return isOptional && !isKnown ? '' : replaced
}

/** Lists the variables that a text refers to. */
export function listVariables(text: string): string[] {
  return [...text.matchAll(/\$\$\{|\$\{env:([^{}]*)\}/g)].flatMap(([, name]) => name ?? [])
}

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
