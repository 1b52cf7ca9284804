import { didYouMean } from '../catalog/value/nearest.ts'
import { isObject, formatPointerStep, type Json } from '../model/json.ts'
import { listSecretNames, type SecretKeeper } from '../model/secret-keeper.ts'
import type { Finding } from './finding.ts'

/** What references may refer to. */
export interface Names {
  domain: string
  vars: ReadonlyMap<string, string>
  secrets: ReadonlySet<string>
  refer: SecretKeeper['maskTemplate']
}

/** A value with its references replaced. */
export interface ReplaceResult {
  /** The very value that was given where it holds no reference. */
  value: Json
  findings: Finding[]
  /** Whether a secret stands in it. */
  secret: boolean
}

/**
 * A value with `${domain}`, `${var:…}` and `${secret:…}` replaced in its strings; `$${` becomes
 * `${`. A string with a secret becomes a `{$secret}`. Mapping keys stay as they are; those that
 * begin with "$" are refused.
 */
export function replaceReferences(value: Json, names: Names, pointer: string): ReplaceResult {
  const findings: Finding[] = []
  let secret = false
  const watched: Names = {
    ...names,
    refer: (template) => {
      secret = true
      return names.refer(template)
    },
  }
  const result = replaced(value, pointer, watched, findings)
  return { value: result, findings, secret }
}

function replaced(value: Json, pointer: string, names: Names, findings: Finding[]): Json {
  if (typeof value === 'string')
    return value.includes('${') ? replacedText(value, pointer, names, findings) : value
  if (Array.isArray(value)) {
    const entries = value.map((entry, i) => replaced(entry, `${pointer}/${i}`, names, findings))
    return entries.every((entry, i) => entry === value[i]) ? value : entries
  }
  if (!isObject(value)) return value
  const fields: [string, Json][] = []
  let same = true
  for (const [key, field] of Object.entries(value)) {
    const at = pointer + formatPointerStep(key)
    if (key.startsWith('$'))
      findings.push({
        code: 'item-invalid',
        pointer: at,
        part: 'key',
        summary: 'A key that begins with "$"',
        detail: instruction(key),
      })
    const next = replaced(field, at, names, findings)
    same &&= next === field
    fields.push([key, next])
  }
  return same ? value : Object.fromEntries(fields)
}

function instruction(key: string): string {
  if (key === '$unset')
    return '"$unset" stands for a whole item. To leave a field out, give it the value null.'
  if (key === '$append')
    return '"$append" can\'t stand inside an entry of a list: entries are not merged, so there is nothing to add to.'
  if (key === '$secret')
    return 'expected a reference to a secret such as "${secret:NAME}", got the form in which plans show secrets'
  return `expected "$append" or "$unset", got "${key}"`
}

function replacedText(text: string, pointer: string, names: Names, findings: Finding[]): Json {
  const problems: Finding[] = []
  let secrets = 0
  const result = text.replace(
    /\$\$\{|\$\{(?:([^}]*)\})?/g,
    (match, reference: string | undefined) => {
      if (match === '$${') return '${'
      const answer = resolve(match, reference, names)
      if ('detail' in answer) {
        problems.push({
          code: 'reference-unknown',
          pointer,
          summary: 'A reference that leads nowhere',
          detail: answer.detail,
        })
        return match
      }
      if (answer.secret) secrets++
      return answer.text
    },
  )
  if (problems.length === 0 && secrets > 0 && listSecretNames(result).length !== secrets) {
    const detail =
      'a literal "${secret:" can\'t stand beside a reference to a secret: the two can\'t be told apart later'
    problems.push({ code: 'secret-invalid', pointer, summary: 'An ambiguous secret', detail })
  }
  findings.push(...problems)
  if (problems.length > 0 || secrets === 0) return result
  return { ...names.refer(result) }
}

type Resolved = { text: string; secret: boolean } | { detail: string }

function resolve(match: string, reference: string | undefined, names: Names): Resolved {
  if (reference === undefined)
    return { detail: 'this "${" has no "}". Write "$${" for a literal "${".' }
  if (reference === 'domain') return { text: names.domain, secret: false }
  const [kind, name] = splitAt(reference, ':')
  if (kind === 'env' && name !== null) {
    return {
      detail: `"${match}" is not read here, since any branch could then read the token out. Name a secret under "secrets" in edgewise.yaml, and refer to it with "\${secret:NAME}".`,
    }
  }
  if (kind === 'var' && name !== null) {
    const value = names.vars.get(name)
    return value === undefined
      ? {
          detail: unknown(
            'variable',
            name,
            names.vars.keys(),
            'Define it under "vars" of the manifest.',
          ),
        }
      : { text: value, secret: false }
  }
  if (kind === 'secret' && name !== null) {
    if (!names.secrets.has(name))
      return {
        detail: unknown(
          'secret',
          name,
          names.secrets,
          'Define it under "secrets" in edgewise.yaml.',
        ),
      }
    return { text: match, secret: true }
  }
  return {
    detail: `expected "\${domain}", "\${var:NAME}" or "\${secret:NAME}", got "${match}". Write "$\${" for a literal "\${".`,
  }
}

function unknown(kind: string, name: string, known: Iterable<string>, otherwise: string): string {
  const names = [...known]
  const hint =
    didYouMean(name, names) || (names.length === 0 ? '' : ` There is: ${names.join(', ')}.`)
  return `there is no ${kind} "${name}".${hint} ${otherwise}`
}

/** The parts of a text before and after the first `by`; null where it has none. */
function splitAt(text: string, by: string): [string, string | null] {
  const at = text.indexOf(by)
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}
