import {
  isObject,
  resolvePointer,
  toList,
  type Json,
  type JsonObject,
} from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { listAll, listSome } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatSeconds, listErrorTimes } from './duration.ts'

/** A trace, and what its text needs beside it. */
export interface TracedText {
  /** `edgewise.trace/1`; of the readings, those are named that `vary` has. */
  output: JsonObject
  /** Reads the value of a rule; null if it is not certain. */
  readRule(rule: { item: string; pointer: string }): Json
  /** Finds the place of a rule's text. */
  locate(rule: { item: string; pointer: string }): Json
}

/** Reads the value of a rule. */
export type ReadRule = TracedText['readRule']

/** Finds the part of a value at keys with dots between them; undefined if there is none. */
export function part(value: Json | undefined, path: string): Json | undefined {
  return resolvePointer(value, `/${path.replaceAll('.', '/')}`)
}

/** Lists what an object has, by its keys; nothing of another value. */
export function listEntries(value: Json | undefined): [key: string, value: Json][] {
  return Object.entries(isObject(value) ? value : {})
}

/** The value of an answer; undefined if it is unknown. */
export function readValue(trace: JsonObject, field: string): Json | undefined {
  return part(trace, `${field}.value`)
}

/** The reasons for which an answer is unknown; none if it is known. */
export function readReasons(answer: Json | undefined): string[] {
  return toList(part(answer, 'unknown')).map(String)
}

/** The option that gives each fact; `x` is the name of a header. */
const options: Record<string, string | undefined> = {
  method: '--method GET',
  ip: '--ip ADDRESS',
  country: '--country NAME',
  isp: '--isp CARRIER',
  at: '--at TIME',
  time: '--time HH:MM',
  bodySize: '--body-size BYTES',
  signature: '--signature valid',
  'headers.': "--header 'x: VALUE'",
  'origin.status': '--origin-status 200',
  'origin.size': '--origin-size BYTES',
  'origin.headers.': "--origin-header 'x: VALUE'",
}

function findOption(reason: string): string | undefined {
  const [fact = '', ...name] = reason.replace('not-given ', '').split(/(?<=headers\.)/)
  return options[fact]?.replace('x:', () => `${name.join('')}:`)
}

/** Words before the names of reasons of a kind. */
const kindWords: Record<string, string | undefined> = {
  secret: 'depends on secret',
  'not-given': 'not given:',
  'in-doubt': 'in doubt:',
  unmanaged: 'not set by any manifest:',
  undecidable: 'undecidable:',
}

/** Describes why an answer is unknown: the option that decides it, or the reasons by their kind. */
export function describeReasons(reasons: readonly string[], isVerbose = false): string {
  const option = reasons.map(findOption).find((each) => each !== undefined)
  if (option !== undefined && !isVerbose) return `give ${option}`
  const parsed = reasons.map((each) => each.replace('not-given secret:', 'secret ').split(/ (.*)/s))
  return [...groupBy(parsed, ([kind = '']) => kindWords[kind])]
    .flatMap(([words, each]) => {
      const names = each.map(([, name = '']) => name)
      return words === undefined ? [] : [`${words} ${listSome(names, isVerbose ? Infinity : 4)}`]
    })
    .join('; ')
}

/** Describes why an answer of a trace is unknown, as `describeReasons`. */
export function explainUnknown(
  trace: JsonObject,
  answer: Json | undefined,
  isVerbose = false,
): string {
  const check = listChecks(trace).find(({ item }) => item === 'visit_timestamp')
  const signing = readReasons(check?.['result']).filter((each) => each.includes(' secret:'))
  const reasons = readReasons(answer).map((each) =>
    signing.includes(each) && !isVerbose ? 'not-given signature' : each,
  )
  return describeReasons(reasons, isVerbose)
}

/** Counts the stages that a request reaches beside the connection; all of them if verbose. */
export function countReached(trace: JsonObject, isVerbose = false): number {
  const ends = ['refused', 'denied', 'redirect']
  const reached = isVerbose ? -1 : ends.indexOf(String(readValue(trace, 'outcome')))
  return reached < 0 ? ends.length : reached
}

/** Lists the checks of access, in their order. */
export function listChecks(trace: JsonObject): JsonObject[] {
  return toList(part(trace, 'access.checks')).filter(isObject)
}

/** Tests whether a check lets the request pass. */
export function passes({ result }: JsonObject): boolean {
  return part(result, 'value') === 'pass'
}

/** How values of fields are described that are no words themselves. */
const formats: Record<string, ((value: Json) => string) | undefined> = {
  'cache.key': describeKey,
  'cache.seconds': (value) => (value === null ? 'as the origin says' : describeTime(value)),
  'cache.lifetime': describeTime,
  'cache.errorSeconds': (value) => listErrorTimes(value).join(', ') || 'none',
  'origin.main': describeTargets,
  'origin.backups': (value) => toList(value).map(describeTargets).join(', then ') || 'none',
  'response.speedLimit': (value) => describeValue(value) + (value === null ? '' : ' KB/s'),
  'response.rateLimit': (value) => (value === null ? 'none' : describeRate(value)),
}

/** Describes an answer: its value in words, or why it is unknown. */
export function describeAnswer(field: string, answer: Json | undefined): string {
  const value = part(answer, 'value')
  return escapeInvisible(
    value === undefined
      ? `unknown (${describeReasons(readReasons(answer))})`
      : (formats[field] ?? describeValue)(value),
  )
}

function describeValue(value: Json): string {
  if (value === null) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return String(value)
  if (isObject(value) && typeof value['pointer'] === 'string')
    return String(value['item']) + value['pointer']
  return Array.isArray(value) && value.every((each) => typeof each !== 'object')
    ? listSome(value.map(String), 4) || 'none'
    : JSON.stringify(value)
}

function describeTime(value: Json): string {
  return typeof value === 'number' && value > 0 ? formatSeconds(value) : 'none'
}

/** Describes a cache key: domains, scheme, path and query. */
function describeKey(key: Json): string {
  if (!isObject(key)) return 'none'
  const { domains, scheme, path, query } = key
  const text = query === null ? String(path) : `${String(path)}?${String(query)}`
  return `${toList(domains).map(String).join(', ')} ${String(scheme)} ${text}`
}

/** Lists the targets of an origin, with their weights. */
export function listTargets(targets: Json): string[] {
  return toList(targets).map((target) => {
    const weight = part(target, 'weight') ?? null
    return (
      String(part(target, 'address') ?? target) + (weight === null ? '' : ` (${String(weight)})`)
    )
  })
}

function describeTargets(targets: Json): string {
  return listTargets(targets).join(', ') || 'none'
}

/** Describes a limit of the rate: `10 MB/s after the first 1 MB`. */
function describeRate(limit: Json): string {
  const after = part(limit, 'after')
  const rest = typeof after === 'string' ? ` after the first ${after}` : ''
  return `${String(part(limit, 'rate'))}/s${rest}`
}

/** Describes a value, or several of which one is chosen; `unknown` without one. */
export function describeChoice(value: Json | undefined): string {
  return value === undefined ? 'unknown' : listAll([value].flat().map(String), 'or')
}

/** Describes where a rule stands: `domains/www.yaml:21`; empty if that is not known. */
export function describePlace(rule: Json | undefined): string {
  const [file, line] = [part(rule, 'file'), part(rule, 'line')]
  return typeof file === 'string' ? `${file}:${String(line)}` : ''
}

/** Reads the value of a rule of a trace. */
export function readTraced(rule: Json | undefined, readRule: ReadRule): Json {
  return readRule({ item: String(part(rule, 'item')), pointer: String(part(rule, 'pointer')) })
}

/** Describes the kind and the pattern of a cache rule: `ext jpg,png`; empty without a rule. */
export function describeRule(rule: Json | undefined, readRule: ReadRule): string {
  if (!isObject(rule)) return ''
  const value = readTraced(rule, readRule)
  const kinds = ['', 'ext', 'dir', 'route', 'regex']
  const kind = part(value, 'match_method') ?? kinds[Number(part(value, 'type') ?? 0)]
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
export function describeCheckRule({ exempt, rule }: JsonObject, readRule: ReadRule): string {
  if (isObject(exempt)) return `exempt: ${String(exempt['pattern'])}`
  if (!isObject(rule)) return ''
  const { item, pattern } = rule
  const field = String(rule['pointer']).slice(1)
  const words = fieldWords[`${String(item)}/${field}`]
  if (typeof pattern === 'string') return pattern
  if (field === '') return 'no entry matches'
  if (words !== undefined) return words
  if (/^\d+$/.test(field)) return `rule ${Number(field) + 1}`
  const value = readTraced(rule, readRule)
  return typeof value === 'string' || typeof value === 'number' ? `${field} ${value}` : field
}
