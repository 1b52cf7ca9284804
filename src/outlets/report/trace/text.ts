import { isObject, type Json, type JsonObject, toList } from '../../../core/model/json.ts'
import { listSome, pluralize } from '../../../core/model/text/words.ts'
import { formatSeconds } from './duration.ts'
import { mergeAnswers, part, readValue, type Traces } from './merge-answers.ts'
import { listMissingOptions } from './missing-options.ts'
import { describeKey, describeReasons } from './describe-values.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { hardBlank, truncate, wrap } from '../text/wrap.ts'
import type { Paint } from '../text/paint.ts'

/** Reads the value of a rule; null if it is not certain. */
export type ReadRule = (rule: { item: string; pointer: string }) => Json

interface Layout {
  paint: Paint
  columns: number
  /** Show all checks, and every reason. */
  verbose: boolean
}

/** A line: its label, its value, what explains it, and where that stands. */
interface Line {
  label: string
  value: string
  detail?: string
  /** Why the value is unknown; shown in place of the detail. */
  reasons?: string[]
  place?: string
}

/** A trace, and what its text needs beside it. */
export interface TracedText extends Traces {
  readRule: ReadRule
}

/** Formats a trace in lines of at most the columns. */
export function formatTrace(traced: TracedText, layout: Layout): string {
  const { paint, columns, verbose } = layout
  const { readRule } = traced
  const trace = mergeAnswers(traced, verbose)
  const url = String(part(trace, 'request', 'url'))
  const of = `(${String(trace['of'])})`
  const gap = Math.max(2, Math.min(columns, 80) - url.length - of.length)
  const outcome = readValue(trace['outcome'])
  const isWhole = outcome === undefined || outcome === 'served' || verbose
  const lines = [
    { label: 'outcome', ...describeOutcome(trace) },
    ...listAccess(trace, layout),
    ...listRedirect(trace),
    // What is known not to be reached is left out.
    ...(isWhole
      ? [...listCache(trace, readRule), ...listOrigin(trace), ...listResponse(trace)]
      : [{ label: 'response', ...describeAnswer(part(trace, 'response', 'status'), String) }]),
  ]
  return [
    paint.bold(escapeInvisible(url)) + ' '.repeat(gap) + paint.dim(of),
    ...lines.map((line) => formatLine(line, layout)),
    ...listFootnotes(trace, columns).map((note) => paint.dim(note)),
    ...listMissing(trace, isWhole, columns).map((note) => paint.dim(note)),
  ].join('\n')
}

/** Describes an answer: its value (`*`: without unmanaged items), or why it is unknown. */
function describeAnswer(
  answer: Json | undefined,
  describe: (value: Json) => string,
): Pick<Line, 'value' | 'detail' | 'reasons'> {
  const value = readValue(answer)
  const reasons = part(answer, 'unknown')
  if (value !== undefined) return { value: describe(value) + describeMarks(answer) }
  return { value: 'unknown', reasons: Array.isArray(reasons) ? reasons.map(String) : [] }
}

/** `*`: without unmanaged items; `~`: rests on a preset or a setting. */
function describeMarks(answer: Json | undefined): string {
  const isManaged = part(answer, 'unknown') === undefined
  return (isManaged ? '' : ' *') + (part(answer, 'rests') === true ? ' ~' : '')
}

function describeOutcome(trace: JsonObject): Omit<Line, 'label'> {
  const detail = readValue(trace['outcome']) === 'refused' ? 'https without a certificate' : ''
  return { detail, ...describeAnswer(trace['outcome'], String) }
}

function listAccess(trace: JsonObject, { verbose }: Layout): Line[] {
  const checks = part(trace, 'access', 'checks')
  const all = toList(checks).filter(isObject)
  const set = all.filter((check) => check['state'] !== 'absent' && check['state'] !== 'unmanaged')
  const decision = part(trace, 'access', 'decision')
  const denied = readValue(decision) === 'denied'
  const count = denied ? '' : `${pluralize(set.length, 'check')} set`
  const deciding = readValue(part(trace, 'access', 'deciding'))
  const shown = verbose ? all : set
  const described = describeAnswer(decision, String)
  return [
    {
      label: 'access',
      ...described,
      detail: denied && typeof deciding === 'string' ? `by ${deciding}` : count,
    },
    ...shown.map((check) => describeCheck(check)),
  ]
}

function describeCheck(check: JsonObject): Line {
  const rule = isObject(check['exempt'])
    ? { ...check['exempt'], prefix: 'exempt: ' }
    : check['rule']
  const described = describeAnswer(check['result'], String)
  return {
    label: `  ${String(check['item'])}`,
    ...described,
    detail: describeRule(rule),
    place: describePlace(rule),
  }
}

/** Describes a rule by its pattern, by the field that it is, or that no entry matches. */
function describeRule(rule: Json | undefined): string {
  if (!isObject(rule)) return ''
  const { item, pattern, pointer, prefix = '' } = rule
  if (typeof pattern === 'string') return String(prefix) + pattern
  if (pointer === '') return 'no entry matches'
  return fieldWords[`${String(item)}${String(pointer)}`] ?? String(pointer ?? '').slice(1)
}

/** What it means that a field decides. */
const fieldWords: Record<string, string | undefined> = {
  'visit_timestamp/req_uri_type': 'the URL is not signed',
  'visit_timestamp/deadtime': 'too old, or too early',
  'visit_timestamp/key': 'wrong signature',
  'referer/allow_empty': 'no Referer',
  'user_agent/allow_empty_ua': 'no User-Agent',
}

function describePlace(rule: Json | undefined): string {
  if (!isObject(rule) || typeof rule['file'] !== 'string') return ''
  return `${rule['file']}:${String(rule['line'])}`
}

function listRedirect(trace: JsonObject): Line[] {
  const decision = part(trace, 'redirect', 'decision')
  if (readValue(decision) === 'none') return []
  const status = describeAnswer(part(trace, 'redirect', 'status'), String)
  const location = describeAnswer(part(trace, 'redirect', 'location'), String)
  return [{ label: 'redirect', ...status, detail: location.value }]
}

function listCache(trace: JsonObject, readRule: ReadRule): Line[] {
  const cache = part(trace, 'cache')
  const rule = part(cache, 'rule')
  const known = readValue(rule)
  const found = describeAnswer(rule, (value) => describeKind(value, readRule))
  const lines: Line[] = [
    {
      label: 'cache',
      ...describePolicy(cache),
      detail: known === null ? 'no rule' : found.value === 'unknown' ? '' : found.value,
      place: describePlace(known),
    },
  ]
  for (const [name, label] of [
    ['also', '  also'],
    ['maybe', '  maybe'],
  ] as const) {
    const rules = part(cache, name)
    for (const each of toList(rules))
      lines.push({
        label,
        value: describeRuleTime(each, readRule),
        detail: describeKind(each, readRule),
        place: describePlace(each),
      })
  }
  const key = describeAnswer(part(cache, 'key'), describeKey)
  if (key.value !== 'none') lines.push({ label: '  key', ...key })
  lines.push({ label: '  stored', ...describeAnswer(part(cache, 'stored'), describeFlag) })
  return lines
}

function describePolicy(cache: Json | undefined): Pick<Line, 'value' | 'reasons'> {
  const policy = describeAnswer(part(cache, 'policy'), String)
  if (readValue(part(cache, 'policy')) !== 'cache') return policy
  return describeAnswer(part(cache, 'seconds'), (seconds) => formatSeconds(Number(seconds)))
}

/** Describes the kind and the pattern of a cache rule: `ext jpg,png`. */
function describeKind(rule: Json, readRule: ReadRule): string {
  const value = findRule(rule, readRule)
  if (!isObject(rule)) return ''
  const kinds: Record<string, string> = { 1: 'ext', 2: 'dir', 3: 'route', 4: 'regex' }
  const kind = isObject(value) ? (value['match_method'] ?? kinds[String(value['type'])] ?? '') : ''
  return `${String(kind)} ${String(rule['pattern'] ?? '')}`.trim()
}

function findRule(rule: Json, readRule: ReadRule): ReturnType<ReadRule> | null {
  if (!isObject(rule)) return null
  return readRule({ item: String(rule['item']), pointer: String(rule['pointer']) })
}

function describeRuleTime(rule: Json, readRule: ReadRule): string {
  const value = findRule(rule, readRule)
  if (!isObject(value)) return ''
  const count = value['expire'] ?? value['time']
  const unit = value['expire_unit'] ?? value['timeunit'] ?? 's'
  const word = unit === 'i' || unit === 'minute' ? 'min' : String(unit)
  return count === undefined ? '' : `${String(count)} ${word}`
}

function describeFlag(value: Json): string {
  return value === true ? 'yes' : 'no'
}

function listOrigin(trace: JsonObject): Line[] {
  const origin = part(trace, 'origin')
  const reached = [
    describeAnswer(part(origin, 'protocol'), describeList).value,
    `port ${describeAnswer(part(origin, 'port'), describeList).value}`,
    `Host: ${describeAnswer(part(origin, 'host'), describeList).value}`,
  ]
  const rewrite = readValue(part(origin, 'rewrite'))
  const lines: Line[] = [
    { label: 'origin', ...describeAnswer(part(origin, 'main'), describeTargets) },
    { label: '  as', value: reached.join(', ') },
    {
      label: '  url',
      ...describeAnswer(part(origin, 'url'), String),
      place: describePlace(rewrite),
    },
    ...listHeaders(part(origin, 'headers')),
  ]
  const backups = readValue(part(origin, 'backups'))
  if (Array.isArray(backups) && backups.length > 0)
    lines.splice(1, 0, { label: '  backup', value: backups.map(describeTargets).join('; ') })
  return lines
}

export function describeTargets(targets: Json): string {
  if (!Array.isArray(targets)) return 'none'
  return targets
    .filter(isObject)
    .map(({ address, weight }) => String(address) + (weight === null ? '' : ` (${String(weight)})`))
    .join(', ')
}

function describeList(value: Json): string {
  return Array.isArray(value) ? value.map(String).join(' or ') : String(value)
}

function listHeaders(headers: Json | undefined): Line[] {
  return Object.entries(isObject(headers) ? headers : {}).map(([name, answer]) => {
    const described = describeAnswer(answer, (value) =>
      Array.isArray(value) ? value.join(', ') : '(absent)',
    )
    return { label: '  header', ...described, value: `${name}: ${described.value}` }
  })
}

function listResponse(trace: JsonObject): Line[] {
  const response = part(trace, 'response')
  const location = readValue(part(response, 'location'))
  const status = describeAnswer(part(response, 'status'), String)
  const lines: Line[] = [
    {
      label: 'response',
      ...status,
      detail: typeof location === 'string' ? location : '',
    },
    ...listHeaders(part(response, 'headers')),
  ]
  const optional: [string, string, Json, (value: Json) => string][] = [
    ['compression', '  encoding', 'none', String],
    ['speedLimit', '  limit', null, (value) => `${String(value)} KB/s`],
    ['rateLimit', '  rate', null, (value) => String(part(value, 'rate'))],
    ['drag', '  seeking', false, describeFlag],
  ]
  for (const [name, label, usual, describe] of optional) {
    const answer = part(response, name)
    if (readValue(answer) !== usual) lines.push({ label, ...describeAnswer(answer, describe) })
  }
  return lines
}

/** Columns of values, details and places in a line of 80. */
const starts = { value: 12, detail: 27, place: 55 }

function formatLine(
  { label, value, detail: explained = '', reasons, place = '' }: Line,
  { paint, columns, verbose }: Layout,
): string {
  const detail = reasons === undefined ? explained : describeReasons(reasons, verbose)
  const prefix = pad(label, starts.value)
  const start = prefix + escapeInvisible(value)
  const first = detail === '' ? start : pad(start, starts.detail) + escapeInvisible(detail)
  const room = Math.max(40, columns)
  const whole = place === '' ? first : pad(first, starts.place) + place
  if (whole.length <= room) return paintLabel(whole, label, paint)
  const indent = ' '.repeat(starts.value)
  const [head = '', ...rest] = [
    ...wrap(first.slice(prefix.length), room - prefix.length, '').split('\n'),
    ...(place === '' ? [] : [truncate(place, room - indent.length)]),
  ]
  return [paintLabel(prefix + head, label, paint), ...rest.map((line) => indent + line)].join('\n')
}

function pad(text: string, width: number): string {
  return text.length < width ? text.padEnd(width) : `${text}  `
}

function paintLabel(line: string, label: string, paint: Paint): string {
  return (label.startsWith(' ') ? paint.dim(label) : paint.bold(label)) + line.slice(label.length)
}

/** The footnotes: unmanaged items that are not counted, and readings that matter. */
function listFootnotes(trace: JsonObject, columns: number): string[] {
  const unmanaged = trace['unmanaged']
  const names = Array.isArray(unmanaged) ? unmanaged.map(String) : []
  const assumed = Object.entries(isObject(trace['assumed']) ? trace['assumed'] : {})
  const marked = JSON.stringify(trace).includes('"managed":')
  const whose = trace['of'] === 'desired' ? 'that no manifest mentions' : 'that are not managed'
  const items = names.length < 4 ? listSome(names) : `the ${names.length} items ${whose}`
  const answers = assumed.map(([name, answer]) => `${name} ${describeList(answer ?? null)}`)
  const notes: [label: string, text: string][] = []
  if (marked) notes.push(['*', `if ${items} ${names.length === 1 ? 'is' : 'are'} not set`])
  if (JSON.stringify(trace).includes('"rests":true'))
    notes.push(['~', 'rests on an answer that the specification does not give'])
  if (answers.length > 0) notes.push(['assumed', answers.join(', ')])
  const known = JSON.stringify(trace['notes'])
  if (known.includes('extend'))
    notes.push(['note', 'extend may change more than is described here'])
  if (known.includes('loop')) notes.push(['loop', 'an origin leads back to this domain'])
  const indent = ' '.repeat(starts.value)
  return notes.map(([label, text]) =>
    wrap(text, Math.max(40, columns), indent).replace(indent, label.padEnd(starts.value)),
  )
}

/** Lists the options that would decide more of what is shown. */
function listMissing(trace: JsonObject, isWhole: boolean, columns: number): string[] {
  const { outcome = null, access = null, redirect = null } = trace
  const status = part(trace, 'response', 'status') ?? null
  const options = listMissingOptions(isWhole ? trace : [outcome, access, redirect, status])
  if (options.length === 0) return []
  const indent = ' '.repeat(starts.value)
  const text = options.map((option) => option.replaceAll(' ', hardBlank)).join(' ')
  const lines = wrap(text, Math.max(40, columns), indent).replaceAll(hardBlank, ' ')
  return [lines.replace(indent, 'give'.padEnd(starts.value))]
}
