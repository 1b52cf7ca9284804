import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { listSome, pluralize } from '../../../core/model/text/words.ts'
import { readings } from '../../../core/trace/readings.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { truncate, wrap } from '../text/wrap.ts'
import {
  describeCheckRule,
  describeChoice,
  describeKey,
  describePlace,
  describeReasons,
  describeRule,
  describeTargets,
  part,
  readReasons,
  readValue,
  type ReadRule,
} from './answers.ts'
import { formatSecondsInWords } from './duration.ts'
import { describeTrace } from './sentence.ts'

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
export interface TracedText {
  output: JsonObject
  readRule: ReadRule
}

/** Formats a trace: what happens in sentences, then the stages in lines, then what it rests on. */
export function formatTrace({ output, readRule }: TracedText, layout: Layout): string {
  const { paint, verbose } = layout
  const columns = Math.max(40, Math.min(layout.columns, 80))
  const outcome = readValue(output['outcome'])
  const isWhole = outcome === undefined || outcome === 'served' || verbose
  const lines = [
    ...listAccess(output, verbose),
    ...listRedirect(output),
    // What is known not to be reached is left out.
    ...(isWhole
      ? [...listCache(output, readRule), ...listOrigin(output), ...listResponse(output)]
      : []),
  ]
  return [
    formatTitle(output, columns, paint),
    wrap(escapeInvisible(describeTrace(output, readRule)), columns, ''),
    '',
    ...lines.map((line) => formatLine(line, { ...layout, columns })),
    ...listVariations(output, columns).map((line) => paint.dim(line)),
    ...listNotes(output).map(
      (note) => `\n${paint.dim(wrap(note, columns, ' '.repeat(10)).trimStart())}`,
    ),
  ].join('\n')
}

function formatTitle(output: JsonObject, columns: number, paint: Paint): string {
  const { method = '', url } = part(output, 'request') as JsonObject
  const isUsual = output['visitor'] === 'usual'
  const named = `${String(method === '' && isUsual ? 'GET' : method)} ${String(url)}`.trim()
  const title = `${escapeInvisible(named)} by ${isUsual ? 'a usual' : 'an unknown'} visitor`
  const of = `(${String(output['of'])})`
  const gap = columns - title.length - of.length
  return gap < 2
    ? `${paint.bold(title)}\n${paint.dim(of)}`
    : paint.bold(title) + ' '.repeat(gap) + paint.dim(of)
}

/** Describes an answer: its value, or why it is unknown. */
function describe(
  answer: Json | undefined,
  format: (value: Json) => string = String,
): Pick<Line, 'value' | 'reasons'> {
  const value = readValue(answer)
  return value === undefined
    ? { value: 'unknown', reasons: readReasons(answer) }
    : { value: format(value) }
}

function listAccess(output: JsonObject, verbose: boolean): Line[] {
  const checks = toList(part(output, 'access', 'checks')).filter(isObject)
  const set = checks.filter(({ state }) => state === 'set' || state === 'in-doubt')
  const passing = set.filter(({ result }) => readValue(result) === 'pass')
  const shown = verbose ? checks : checks.filter(({ result }) => readValue(result) !== 'pass')
  const decision = part(output, 'access', 'decision')
  const hint = verbose || passing.length === 0 ? '' : ' (-v lists them)'
  const detail =
    passing.length === 0 ? '' : `${pluralize(passing.length, 'check passes', 'checks pass')}${hint}`
  return [
    {
      label: 'access',
      ...describe(decision),
      ...(readValue(decision) === undefined ? {} : { detail }),
    },
    ...shown.map((check) => ({
      label: `  ${String(check['item'])}`,
      ...describe(check['result']),
      detail: describeCheckRule(check),
      place: describePlace(isObject(check['exempt']) ? check['exempt'] : check['rule']),
    })),
  ]
}

function listRedirect(output: JsonObject): Line[] {
  const redirect = part(output, 'redirect')
  if (readValue(part(redirect, 'decision')) === 'none') return []
  return [
    {
      label: 'redirect',
      ...describe(part(redirect, 'status')),
      detail: describe(part(redirect, 'location')).value,
    },
  ]
}

function listCache(output: JsonObject, readRule: ReadRule): Line[] {
  const cache = part(output, 'cache')
  const rule = readValue(part(cache, 'rule'))
  const policy = readValue(part(cache, 'policy'))
  const time = policy === 'cache' ? part(cache, 'seconds') : part(cache, 'policy')
  const format = (value: Json) =>
    typeof value === 'number'
      ? formatSecondsInWords(value)
      : value === null
        ? "the origin's"
        : String(value)
  const others = (['also', 'maybe'] as const).flatMap((name) =>
    toList(part(cache, name)).map((each): Line => ({
      label: `  ${name}`,
      value: describeTime(each, readRule),
      detail: describeRule(each, readRule),
      place: describePlace(each),
    })),
  )
  const key = describe(part(cache, 'key'), describeKey)
  return [
    {
      label: 'cache',
      detail: rule === null ? 'no rule' : describeRule(rule, readRule),
      ...describe(time, format),
      place: describePlace(rule),
    },
    ...others,
    ...(key.value === 'none' ? [] : [{ label: '  key', ...key }]),
    { label: '  stored', ...describe(part(cache, 'stored'), (is) => (is === true ? 'yes' : 'no')) },
  ]
}

function describeTime(rule: Json, readRule: ReadRule): string {
  if (!isObject(rule)) return ''
  const value = readRule({ item: String(rule['item']), pointer: String(rule['pointer']) })
  const count = part(value, 'expire') ?? part(value, 'time')
  const unit = part(value, 'expire_unit') ?? part(value, 'timeunit') ?? 's'
  return count === undefined ? '' : `${String(count)} ${unit === 'i' ? 'min' : String(unit)}`
}

function listOrigin(output: JsonObject): Line[] {
  const origin = part(output, 'origin')
  const read = (name: string) => describe(part(origin, name), describeChoice).value
  const backups = toList(readValue(part(origin, 'backups')))
  const rewrite = readValue(part(origin, 'rewrite'))
  return [
    { label: 'origin', ...describe(part(origin, 'main'), describeTargets) },
    ...backups.map((targets) => ({ label: '  backup', value: describeTargets(targets) })),
    { label: '  as', value: `${read('protocol')}, port ${read('port')}, Host: ${read('host')}` },
    { label: '  url', ...describe(part(origin, 'url')), place: describePlace(rewrite) },
    ...listHeaders(part(origin, 'headers')),
  ]
}

function listHeaders(headers: Json | undefined): Line[] {
  return Object.entries(isObject(headers) ? headers : {}).map(([name, answer]) => {
    const described = describe(answer, (values) => toList(values).join(', ') || '(absent)')
    return { label: '  header', ...described, value: `${name}: ${described.value}` }
  })
}

function listResponse(output: JsonObject): Line[] {
  const response = part(output, 'response')
  const location = readValue(part(response, 'location'))
  const lifetime = readValue(part(output, 'cache', 'lifetime'))
  const isStored = readValue(part(output, 'cache', 'stored')) === true
  const optional: [string, string, Json, (value: Json) => string][] = [
    ['compression', '  encoding', 'none', String],
    ['speedLimit', '  limit', null, (value) => `${String(value)} KB/s`],
    ['rateLimit', '  rate', null, (value) => String(part(value, 'rate'))],
    ['drag', '  seeking', false, () => 'yes'],
  ]
  const time =
    typeof lifetime === 'number' ? `${formatSecondsInWords(lifetime)} in the cache from now on` : ''
  return [
    {
      label: 'response',
      ...describe(part(response, 'status')),
      detail: typeof location === 'string' ? location : isStored ? time : '',
    },
    ...listHeaders(part(response, 'headers')),
    ...optional.flatMap(([name, label, usual, format]) => {
      const answer = part(response, name)
      return readValue(answer) === usual ? [] : [{ label, ...describe(answer, format) }]
    }),
  ]
}

/** Columns of values, details and places in a line of 80. */
const starts = { value: 10, detail: 25, place: 56 }

function formatLine(
  { label, value, detail: explained = '', reasons, place = '' }: Line,
  { paint, columns, verbose }: Layout,
): string {
  const detail = reasons === undefined ? explained : describeReasons(reasons, verbose)
  const prefix = pad(label, starts.value)
  const start = prefix + escapeInvisible(value)
  const first = detail === '' ? start : pad(start, starts.detail) + escapeInvisible(detail)
  const whole = place === '' ? first : pad(first, starts.place) + escapeInvisible(place)
  if (whole.length <= columns) return paintLabel(whole, label, paint)
  const indent = ' '.repeat(starts.value)
  const [head = '', ...rest] = [
    ...wrap(first.slice(prefix.length), columns - prefix.length, '').split('\n'),
    ...(place === '' ? [] : [truncate(escapeInvisible(place), columns - indent.length)]),
  ]
  return [paintLabel(prefix + head, label, paint), ...rest.map((line) => indent + line)].join('\n')
}

function pad(text: string, width: number): string {
  return text.length < width ? text.padEnd(width) : `${text}  `
}

function paintLabel(line: string, label: string, paint: Paint): string {
  return (label.startsWith(' ') ? paint.dim(label) : paint.bold(label)) + line.slice(label.length)
}

/** Lists what another answer of each assumed reading would change. */
function listVariations(output: JsonObject, columns: number): string[] {
  const varied = toList(output['vary']).filter(isObject)
  return varied.map(({ reading, answer, changes }, i) => {
    const changed = toList(changes)
      .filter(isObject)
      .map(({ field, after }) => `${String(field)} ${describe(after, formatValue).value}`)
    const text = escapeInvisible(
      `${String(reading)}=${describeChoice(answer ?? null)}: ${listSome(changed)}`,
    )
    return `${i === 0 ? '\n' : ''}${wrap(text, columns, '  ')}`
  })
}

function formatValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What the answers rest on, in words, and what else there is to know. */
function listNotes(output: JsonObject): string[] {
  const assumed = Object.entries(isObject(output['assumed']) ? output['assumed'] : {})
  const clauses = assumed.map(([name]) =>
    name === 'unmanaged' ? describeUnmanaged(output) : `${findMeaning(name)} (${name})`,
  )
  const [name = ''] = assumed.map(([each]) => each).filter((each) => each !== 'unmanaged')
  const hint =
    name === '' ? '' : ` --vary shows what each would change; "edgewise explain ${name}".`
  const known = toList(output['notes'])
  return [
    ...(known.includes('extend-set')
      ? ['Note      extend may change more than is described here.']
      : []),
    ...(known.includes('origin-loop') ? ['Note      an origin leads back to this domain.'] : []),
    ...(clauses.length === 0 ? [] : [`Assumed   ${clauses.join('; ')}.${hint}`]),
  ]
}

function findMeaning(name: string): string {
  return readings.find((reading) => reading.name === name)?.meaning ?? name
}

function describeUnmanaged(output: JsonObject): string {
  const names = toList(output['unmanaged']).map(String)
  const whose = output['of'] === 'desired' ? 'that no manifest mentions' : 'that are not managed'
  return names.length < 4
    ? `${listSome(names)} ${names.length === 1 ? 'is' : 'are'} not set`
    : `${names.length} items ${whose} are not set`
}
