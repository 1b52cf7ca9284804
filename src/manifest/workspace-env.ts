import { isObject, formatPointerStep, type Json, type JsonObject } from '../model/json.ts'
import type { Finding } from './finding.ts'

export type Environment = Record<string, string | undefined>

const sections = ['service', 'state', 'secrets']

/**
 * The content of the workspace file with `${env:NAME}` replaced under `service`, `state` and
 * `secrets`; `$${` becomes `${` there. A variable of the token that is not set gives an empty
 * string, any other one a finding. Elsewhere a reference to the environment is a finding.
 */
export function replaceEnvironment(
  content: JsonObject,
  env: Environment,
): { value: JsonObject; findings: Finding[] } {
  const findings: Finding[] = []
  const value = Object.fromEntries(
    Object.entries(content).map(([key, section]) => [
      key,
      replaced(section, formatPointerStep(key), sections.includes(key) ? env : null, findings),
    ]),
  )
  return { value, findings }
}

function replaced(
  value: Json,
  pointer: string,
  env: Environment | null,
  findings: Finding[],
): Json {
  if (typeof value === 'string')
    return env === null
      ? untouched(value, pointer, findings)
      : replacedText(value, pointer, env, findings)
  if (Array.isArray(value))
    return value.map((entry, i) => replaced(entry, `${pointer}/${i}`, env, findings))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      replaced(field, pointer + formatPointerStep(key), env, findings),
    ]),
  )
}

function untouched(text: string, pointer: string, findings: Finding[]): string {
  if (/(?<!\$)\$\{env:/.test(text)) {
    const detail = `"\${env:…}" is read under service, state and secrets only. For a secret in a manifest, name it under "secrets" and refer to it with "\${secret:NAME}".`
    findings.push({
      code: 'reference-unknown',
      pointer,
      summary: 'A reference out of place',
      detail,
    })
  }
  return text
}

function replacedText(
  text: string,
  pointer: string,
  env: Environment,
  findings: Finding[],
): string {
  const say = (detail: string) =>
    findings.push({
      code: 'reference-unknown',
      pointer,
      summary: 'A reference that leads nowhere',
      detail,
    })
  return text.replace(/\$\$\{|\$\{(?:([^}]*)\})?/g, (match, reference: string | undefined) => {
    if (match === '$${') return '${'
    const name = reference?.startsWith('env:') === true ? reference.slice('env:'.length) : null
    if (name === null) {
      say(`expected "\${env:NAME}", got "${match}". Write "$\${" for a literal "\${".`)
      return match
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined) return value
    // Planning and validating need no token; a pull request from a fork has none.
    if (pointer !== '/service/token')
      say(`the environment variable "${name}" is not set. Set it before running edgewise.`)
    return ''
  })
}
