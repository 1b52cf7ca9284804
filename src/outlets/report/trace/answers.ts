import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { listSome } from '../../../core/model/text/words.ts'

/** The part of a value at some keys; undefined if there is none. */
export function part(value: Json | undefined, ...steps: string[]): Json | undefined {
  return steps.reduce<Json | undefined>(
    (current, step) =>
      isObject(current) && Object.hasOwn(current, step) ? current[step] : undefined,
    value,
  )
}

/** The value of an answer; undefined if it is unknown. */
export function readValue(answer: Json | undefined): Json | undefined {
  return part(answer, 'value')
}

/** The reasons for which an answer is unknown; none if it is known. */
export function readReasons(answer: Json | undefined): string[] {
  return toList(part(answer, 'unknown')).map(String)
}

/** The option that gives each fact. */
const options: [fact: RegExp, option: string][] = [
  [/^not-given method$/, '--method GET'],
  [/^not-given ip$/, '--ip ADDRESS'],
  [/^not-given country$/, '--country NAME'],
  [/^not-given isp$/, '--isp CARRIER'],
  [/^not-given headers\.(.*)$/, "--header '$1: VALUE'"],
  [/^not-given at$/, '--at TIME'],
  [/^not-given time$/, '--time HH:MM'],
  [/^not-given bodySize$/, '--body-size BYTES'],
  [/^not-given origin\.status$/, '--origin-status 200'],
  [/^not-given origin\.size$/, '--origin-size BYTES'],
  [/^not-given origin\.headers\.(.*)$/, "--origin-header '$1: VALUE'"],
]

/** Words before the names of reasons, by what reasons of their kind begin with. */
const reasonKinds: [prefix: string, words: string][] = [
  ['not-given secret:', 'depends on secret '],
  ['not-given ', 'not given: '],
  ['in-doubt ', 'in doubt: '],
  ['unmanaged ', 'not set by any manifest: '],
  ['undecidable ', 'undecidable: '],
]

/**
 * Describes why an answer is unknown: the option that decides it, or the reasons by their kind.
 *
 * @param signing reasons that end with a valid signature
 */
export function describeReasons(
  reasons: readonly string[],
  isVerbose: boolean,
  signing: readonly string[] = [],
): string {
  for (const reason of isVerbose ? [] : reasons) {
    if (signing.includes(reason)) return 'give --signature valid'
    for (const [fact, option] of options)
      if (fact.test(reason)) return `give ${reason.replace(fact, option)}`
  }
  return reasonKinds
    .flatMap(([prefix, words]) => {
      const names = reasons.flatMap((reason) =>
        reasonKinds.find(([each]) => reason.startsWith(each))?.[0] === prefix
          ? [reason.slice(prefix.length)]
          : [],
      )
      return names.length === 0 ? [] : [words + listSome(names, isVerbose ? names.length : 4)]
    })
    .join('; ')
}

/** Lists the checks of access, in their order. */
export function listChecks(trace: JsonObject): JsonObject[] {
  return toList(part(trace, 'access', 'checks')).filter(isObject)
}

/** Lists the reasons for which it is unknown whether a signature is valid. */
export function listSigningReasons(trace: JsonObject): string[] {
  const check = listChecks(trace).find(({ item }) => item === 'visit_timestamp')
  return readReasons(check?.['result']).filter((reason) => reason.startsWith('not-given secret:'))
}

/** Describes a cache key: domains, scheme, path and query. */
export function describeKey(key: Json): string {
  if (!isObject(key)) return 'none'
  const { domains, scheme, path, query } = key
  const text = query === null ? String(path) : `${String(path)}?${String(query)}`
  return `${toList(domains).map(String).join(', ')} ${String(scheme)} ${text}`
}

/** Describes the targets of an origin, with their weights. */
export function describeTargets(targets: Json): string {
  const texts = toList(targets)
    .filter(isObject)
    .map(({ address, weight }) => String(address) + (weight === null ? '' : ` (${String(weight)})`))
  return texts.length === 0 ? 'none' : texts.join(', ')
}

/** Describes a value, or several of which one is chosen. */
export function describeChoice(value: Json): string {
  return Array.isArray(value) ? value.map(String).join(' or ') : String(value)
}

/** Describes where a rule stands: `domains/www.yaml:21`; empty if that is not known. */
export function describePlace(rule: Json | undefined): string {
  const [file, line] = [part(rule, 'file'), part(rule, 'line')]
  return typeof file === 'string' ? `${file}:${String(line)}` : ''
}

/** Reads the value of a rule; null if it is not certain. */
export type ReadRule = (rule: { item: string; pointer: string }) => Json

/** Describes the kind and the pattern of a cache rule: `ext jpg,png`. */
export function describeRule(rule: Json | undefined, readRule: ReadRule): string {
  if (!isObject(rule)) return ''
  const value = readRule({ item: String(rule['item']), pointer: String(rule['pointer']) })
  const kinds: Record<string, string> = { 1: 'ext', 2: 'dir', 3: 'route', 4: 'regex' }
  const kind = part(value, 'match_method') ?? kinds[String(part(value, 'type'))] ?? ''
  return `${String(kind)} ${String(rule['pattern'] ?? '')}`.trim()
}

/** What it means that a field of a check decides. */
const fieldWords: Record<string, string | undefined> = {
  'visit_timestamp/req_uri_type': 'the URL is not signed',
  'visit_timestamp/deadtime': 'too old, or too early',
  'visit_timestamp/key': 'wrong signature',
  'referer/allow_empty': 'no Referer',
  'user_agent/allow_empty_ua': 'no User-Agent',
}

/** Describes the rule of a check by its pattern, its field, or that no entry matches. */
export function describeCheckRule(check: JsonObject, readRule: ReadRule): string {
  const isExempt = isObject(check['exempt'])
  const rule = isExempt ? check['exempt'] : check['rule']
  if (!isObject(rule)) return ''
  const { pattern } = rule
  if (typeof pattern === 'string') return (isExempt ? 'exempt: ' : '') + pattern
  const [item, pointer] = [String(rule['item']), String(rule['pointer'])]
  if (pointer === '') return 'no entry matches'
  const words = fieldWords[item + pointer]
  if (words !== undefined) return words
  if (/^\/\d+$/.test(pointer)) return `rule ${Number(pointer.slice(1)) + 1}`
  const value = readRule({ item, pointer })
  const field = pointer.slice(1)
  return typeof value === 'string' || typeof value === 'number' ? `${field} ${value}` : field
}
