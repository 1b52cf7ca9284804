import { isObject, formatPointerStep, type Json, type JsonObject } from '../model/json.ts'
import type { Finding } from './finding.ts'

export type Environment = Record<string, string | undefined>

/** Parts of the workspace file in which variables are replaced. */
export const environmentSections = ['service', 'state', 'secrets', 'notify']
/** Values that may be missing: an unset or empty variable makes all of the value empty. */
const optional = /^\/(?:state\/url|notify\/\d+\/(?:url|secret))$/

/**
 * Replaces `${env:NAME}` under `service`, `state`, `secrets` and `notify` of the workspace file;
 * `$${` becomes `${` there. An unset variable of the token becomes an empty string; an unset or
 * empty one of the database's address or of a receiver makes the whole value empty. Any other unset
 * variable is a finding, and so is a reference to the environment elsewhere.
 */
export function replaceEnvironment(
  content: JsonObject,
  env: Environment,
): { value: JsonObject; findings: Finding[] } {
  const findings: Finding[] = []
  const value = Object.fromEntries(
    Object.entries(content).map(([key, section]) => [
      key,
      replaceValue(
        section,
        formatPointerStep(key),
        environmentSections.includes(key) ? env : null,
        findings,
      ),
    ]),
  )
  return { value, findings }
}

function replaceValue(
  value: Json,
  pointer: string,
  env: Environment | null,
  findings: Finding[],
): Json {
  if (typeof value === 'string')
    return env === null
      ? checkUnchanged(value, pointer, findings)
      : replaceText(value, pointer, env, findings)
  if (Array.isArray(value))
    return value.map((entry, i) => replaceValue(entry, `${pointer}/${i}`, env, findings))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      replaceValue(field, pointer + formatPointerStep(key), env, findings),
    ]),
  )
}

function checkUnchanged(text: string, pointer: string, findings: Finding[]): string {
  if (/(?<!\$)\$\{env:/.test(text)) {
    const detail =
      '"${env:…}" is allowed under service, state, secrets and notify only. For a secret in a ' +
      'manifest, define it under "secrets" and refer to it with "${secret:NAME}".'
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
