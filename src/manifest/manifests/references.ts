import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { append } from '../../core/model/lists.ts'
import { inputLimits } from '../../core/model/input-limits.ts'
import { isObject, formatPointerStep, type Json, type JsonObject } from '../../core/model/json.ts'
import { listSecretNames, type SecretKeeper } from '../../core/model/secret.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { Finding } from './finding.ts'

/** The targets of references. */
export interface Names {
  domain: string
  vars: ReadonlyMap<string, string>
  secrets: ReadonlySet<string>
  refer: SecretKeeper['maskTemplate']
  budget: ReplacementBudget
}

/** Maximum number of findings of an item: each may search all names for a similar one. */
const maxFindings = 20

/** The result of replacing references. */
export interface ReplaceResult {
  /** The same object as the input if it has no references. */
  value: Json
  findings: Finding[]
  /** Whether the value contains a secret. */
  secret: boolean
}

/**
 * Replaces `${domain}`, `${var:…}` and `${secret:…}` in the strings of a value; `$${` becomes `${`.
 * A string with a secret becomes a `{$secret}`. Keys stay as they are; keys that begin with "$" are
 * refused.
 */
export function replaceReferences(value: Json, names: Names, pointer: string): ReplaceResult {
  const findings: Finding[] = []
  let secret = false
  const watchedNames: Names = {
    ...names,
    refer: (template) => {
      secret = true
      return names.refer(template)
    },
  }
  const result = replaceValue(value, pointer, watchedNames, findings)
  return { value: result, findings, secret }
}

function replaceValue(value: Json, pointer: string, names: Names, findings: Finding[]): Json {
  if (findings.length >= maxFindings) return value
  if (typeof value === 'string')
    return value.includes('${') ? replaceText(value, pointer, names, findings) : value
  if (Array.isArray(value)) {
    const entries = value.map((entry, i) => replaceValue(entry, `${pointer}/${i}`, names, findings))
    return entries.every((entry, i) => entry === value[i]) ? value : entries
  }
  if (!isObject(value)) return value
  let replaced: JsonObject | null = null
  for (const [key, field] of Object.entries(value)) {
    const fieldPointer = pointer + formatPointerStep(key)
    if (key.startsWith('$'))
      findings.push({
        code: 'item-invalid',
        pointer: fieldPointer,
        part: 'key',
        summary: 'Key begins with "$"',
        detail: explainKey(key),
      })
    const next = replaceValue(field, fieldPointer, names, findings)
    if (next === field) continue
    replaced ??= { ...value }
    replaced[key] = next
  }
  return replaced ?? value
}

function explainKey(key: string): string {
  if (key === '$unset')
    return (
      '"$unset" applies to a whole item, or to a field that the service never shows. To drop an ' +
      'inherited field, set it to null.'
    )
  if (key === '$append' || key === '$prepend')
    return `"${key}" is not allowed inside a list entry: entries are not merged.`
  if (key === '$secret')
    return (
      'expected a reference to a secret such as "${secret:NAME}", got the form in which ' +
      'plans show secrets'
    )
  return `expected "$append", "$prepend" or "$unset", got "${key}"`
}

function replaceText(text: string, pointer: string, names: Names, findings: Finding[]): Json {
  const problems: Finding[] = []
  let secrets = 0
  let length = 0
  const result = text.replace(
    /\$\$\{|\$\{(?:([^{}]*)\})?/g,
    (match, reference: string | undefined) => {
      if (problems.length >= maxFindings || length > inputLimits.replacedLength) return ''
      if (match === '$${') return '${'
      const resolved = resolve(match, reference, names)
      if ('detail' in resolved) {
        problems.push({
          code: 'reference-unknown',
          pointer,
          summary: 'Undefined reference',
          detail: resolved.detail,
        })
        return match
      }
      if (resolved.secret) secrets++
      length += resolved.text.length
      return resolved.text
    },
  )
  names.budget.addText(result)
  append(problems, names.budget.findProblems(pointer))
  if (problems.length === 0 && secrets > 0 && listSecretNames(result).length !== secrets) {
    const detail =
      'a literal "${secret:" is not allowed in a text with a secret reference: the two ' +
      'could not be distinguished later'
    problems.push({ code: 'secret-invalid', pointer, summary: 'Ambiguous secret', detail })
  }
  append(findings, problems)
  if (problems.length > 0 || secrets === 0) return result
  return { ...names.refer(result) }
}

type Resolved = { text: string; secret: boolean } | { detail: string }

function resolve(match: string, reference: string | undefined, names: Names): Resolved {
  if (reference === undefined)
    return { detail: 'this "${" has no closing "}". Write "$${" for a literal "${".' }
  if (reference === 'domain') return { text: names.domain, secret: false }
  const [kind, name] = splitAtColon(reference)
  if (kind === 'env' && name !== null) {
    return {
      detail:
        `"${match}" is not allowed here: any branch could use it to read the token. Define a ` +
        'secret under "secrets" in edgewise.yaml, and refer to it with "${secret:NAME}".',
    }
  }
  if (kind === 'var' && name !== null) {
    const text = names.vars.get(name)
    if (text !== undefined) return { text, secret: false }
    const remedy = 'Define it under "vars" of the manifest.'
    return { detail: describeUnknown('variable', name, names.vars.keys(), remedy) }
  }
  if (kind === 'secret' && name !== null) {
    if (names.secrets.has(name)) return { text: match, secret: true }
    const remedy = 'Define it under "secrets" in edgewise.yaml.'
    return { detail: describeUnknown('secret', name, names.secrets, remedy) }
  }
  return {
    detail:
      `expected "\${domain}", "\${var:NAME}" or "\${secret:NAME}", got "${match}". Write ` +
      '"$${" for a literal "${".',
  }
}

/** Maximum number of names that are searched for a similar one. */
const maxNames = 1000
const maxListed = 20

function describeUnknown(
  kind: string,
  name: string,
  known: Iterable<string>,
  remedy: string,
): string {
  const names = [...known]
  const hint =
    didYouMean(name, names.slice(0, maxNames)) ||
    (names.length === 0 ? '' : ` Defined: ${listSome(names, maxListed)}.`)
  return `there is no ${kind} "${name}".${hint} ${remedy}`
}

/** Splits a text at the first colon; the second part is null if there is none. */
function splitAtColon(text: string): [string, string | null] {
  const index = text.indexOf(':')
  return index < 0 ? [text, null] : [text.slice(0, index), text.slice(index + 1)]
}

/** Units of a value, beside those of its text: it takes time even if it is empty. */
const unitsPerValue = 64

/** Counts what replacing references makes: a small file may stand for gigabytes of text. */
export class ReplacementBudget {
  #domain = 0
  #all = 0

  /** Begins another domain. */
  begin(): void {
    this.#domain = 0
  }

  /** Counts a text after its references are replaced. */
  addText(text: string): void {
    this.#domain += text.length
    this.#all += text.length
  }

  /** Counts the values of an item that is made for this domain alone. */
  addValues(count: number): void {
    this.#all += count * unitsPerValue
  }

  /** Finds why no more may be replaced. */
  findProblems(pointer: string): Finding[] {
    const isOfDomain = this.#domain > inputLimits.replacedLength
    if (!isOfDomain && this.#all <= inputLimits.replacedInAll) return []
    const [max, what] = isOfDomain
      ? [inputLimits.replacedLength, 'one domain']
      : [inputLimits.replacedInAll, 'all domains together']
    const detail =
      `expected at most ${max / 1024 / 1024} MiB of text of ${what} after references are ` +
      'replaced, got more. Use shorter variables, fewer references, or fewer domains.'
    // Which text is one too many depends on the other domains.
    const place = isOfDomain ? pointer : pointer.split('/').slice(0, 2).join('/')
    return [{ code: 'item-invalid', pointer: place, summary: 'Too much text', detail }]
  }
}
