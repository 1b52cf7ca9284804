import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { countMore, listSome, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { readings } from '../../../core/trace/readings.ts'
import { describeSide } from '../effects/describe-effects.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth } from '../text/display-width.ts'
import { cutMiddle, hardBlank, truncate, wrap } from '../text/wrap.ts'
import {
  describeCheckRule,
  describeChoice,
  describeKey,
  describePlace,
  describeReasons,
  describeRule,
  describeTargets,
  listChecks,
  listSigningReasons,
  part,
  readReasons,
  readValue,
  type ReadRule,
} from './answers.ts'
import { formatCountInWords, formatSecondsInWords } from './duration.ts'
import { describeTrace } from './sentence.ts'

interface Layout {
  paint: Paint
  columns: number
  /** Show all checks, and every reason. */
  verbose: boolean
  /** Show what other answers of the assumed readings change. */
  varies?: boolean
}

/** A line: its label, its value, what explains it, and where that stands. */
interface Line {
  label: string
  value: string
  detail?: string
  /** Why the value is unknown; shown in place of the detail. */
  reasons?: string[]
  /** Those of the reasons that end with a valid signature. */
  signing?: readonly string[]
  place?: string
  /** Columns at which value, detail and place begin. */
  columns?: typeof starts
}

/** A trace, and what its text needs beside it. */
export interface TracedText {
  /** With `vary`, only those readings are named on which what is shown rests. */
  output: JsonObject
  readRule: ReadRule
  /** Finds the place of a rule's text. */
  locate(rule: { item: string; pointer: string }): Json
}

/** Formats a trace: what happens in sentences, then the stages in lines, then what it rests on. */
export function formatTrace({ output, readRule, locate }: TracedText, layout: Layout): string {
  const { paint, verbose } = layout
  const columns = Math.max(40, Math.min(layout.columns, 80))
  const outcome = readValue(output['outcome'])
  const isWhole = outcome === undefined || outcome === 'served' || verbose
  const findPlace = (item: string) => describePlace(locate({ item, pointer: '' }))
  const lines = [
    ...(outcome === 'refused' && !verbose ? [] : listAccess(output, readRule, verbose)),
    ...listRedirect(output),
    // What is known not to be reached is left out.
    ...(isWhole
      ? [
          ...listCache(output, readRule, verbose),
          ...listOrigin(output, findPlace),
          ...listResponse(output, findPlace),
        ]
      : []),
  ]
  const assumed = listAssumed(output, verbose)
  const notes = [
    ...listNotes(output),
    ...formatAssumed(output, assumed, layout.varies === true),
  ].map(([label, text]) => `\n${paint.dim(formatNote(label, text, columns))}`)
  return [
    formatTitle(output, columns, paint),
    wrap(escapeInvisible(describeTrace(output, readRule)), columns, ''),
    ...(lines.length === 0 ? [] : ['']),
    ...lines.map((line) => formatLine(line, { ...layout, columns })),
    ...(layout.varies === true ? listVariations(output, assumed, columns) : []),
    ...notes,
  ].join('\n')
}

function formatTitle(output: JsonObject, columns: number, paint: Paint): string {
  const { method = '', url } = part(output, 'request') as JsonObject
  const isUsual = output['visitor'] === 'usual'
  const named = `${String(method === '' && isUsual ? 'GET' : method)} ${String(url)}`.trim()
  const shown = cutMiddle(escapeInvisible(named), 4 * columns)
  const title = wrap(
    `${shown.replace(' ', hardBlank)} by ${isUsual ? 'a usual' : 'an unknown'} visitor`,
    columns,
    '',
  ).replace(hardBlank, ' ')
  const last = title.split('\n').at(-1) ?? ''
  const of = `(${String(output['of'])})`
  const gap = columns - measureWidth(last) - of.length
  return gap < 2
    ? `${paint.bold(title)}\n${paint.dim(of)}`
    : paint.bold(title) + ' '.repeat(gap) + paint.dim(of)
}

/** Describes an answer: its value, or why it is unknown. */
function describe(
  answer: Json | undefined,
  format: (value: Json) => string = String,
  signing: readonly string[] = [],
): Pick<Line, 'value' | 'reasons' | 'signing'> {
  const value = readValue(answer)
  return value === undefined
    ? { value: 'unknown', reasons: readReasons(answer), signing }
    : { value: format(value) }
}

function listAccess(output: JsonObject, readRule: ReadRule, verbose: boolean): Line[] {
  const checks = listChecks(output)
  const set = checks.filter(({ state }) => state === 'set' || state === 'in-doubt')
  const passing = set.filter(({ result }) => readValue(result) === 'pass')
  const shown = verbose ? checks : checks.filter(({ result }) => readValue(result) !== 'pass')
  const signing = verbose ? [] : listSigningReasons(output)
  const decision = describe(part(output, 'access', 'decision'), String, signing)
  const hint = verbose ? '' : ' (-v lists them)'
  const counted = pluralize(passing.length, 'check passes', 'checks pass')
  const detail = passing.length === 0 ? '' : counted + hint
  return [
    { label: 'access', ...decision, ...(decision.reasons === undefined ? { detail } : {}) },
    ...shown.map((check) => ({
      label: `  ${String(check['item'])}`,
      ...describe(check['result'], String, signing),
      detail: check['state'] === 'absent' ? 'not set' : describeCheckRule(check, readRule),
      place: describePlace(isObject(check['exempt']) ? check['exempt'] : check['rule']),
      columns: checkStarts,
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

function listCache(output: JsonObject, readRule: ReadRule, verbose: boolean): Line[] {
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
    mapSome(
      toList(part(cache, name)),
      verbose ? Infinity : 3,
      (each): Line => ({
        label: `  ${name}`,
        value: describeTime(each, readRule),
        detail: describeRule(each, readRule),
        place: describePlace(each),
      }),
      (rest) => ({ label: `  ${name}`, value: `${countMore(rest)} (-v lists them)` }),
    ),
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
  return count === undefined ? '' : formatCountInWords(Number(count), String(unit))
}

function listOrigin(output: JsonObject, findPlace: (item: string) => string): Line[] {
  const origin = part(output, 'origin')
  const read = (name: string) => describe(part(origin, name), describeChoice).value
  const backups = toList(readValue(part(origin, 'backups')))
  const rewrite = readValue(part(origin, 'rewrite'))
  const main = readValue(part(origin, 'main'))
  const isReached =
    main !== null &&
    ['protocol', 'port', 'host'].some((name) => readValue(part(origin, name)) !== undefined)
  const item = readValue(part(origin, 'item'))
  return [
    {
      label: 'origin',
      ...describe(part(origin, 'main'), describeTargets),
      place: typeof item === 'string' ? findPlace(item) : '',
    },
    ...backups.map((targets) => ({ label: '  backup', value: describeTargets(targets) })),
    ...(isReached
      ? [
          {
            label: '  as',
            value: `${read('protocol')}, port ${read('port')}, Host: ${read('host')}`,
          },
        ]
      : []),
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

function listResponse(output: JsonObject, findPlace: (item: string) => string): Line[] {
  const response = part(output, 'response')
  const location = readValue(part(response, 'location'))
  const lifetime = readValue(part(output, 'cache', 'lifetime'))
  const isStored = readValue(part(output, 'cache', 'stored')) === true
  const optional: [string, string, Json, (value: Json) => string, string[]][] = [
    ['compression', '  encoding', 'none', String, ['smart_compression', 'compress_response']],
    ['speedLimit', '  limit', null, (value) => `${String(value)} KB/s`, ['speed_limit']],
    ['rateLimit', '  rate', null, (value) => `${String(part(value, 'rate'))}/s`, ['rate_limit']],
    ['drag', '  seeking', false, () => 'yes', ['video_drag']],
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
    ...optional.flatMap(([name, label, usual, format, items]) => {
      const answer = part(response, name)
      const place = items.map(findPlace).find((each) => each !== '') ?? ''
      return readValue(answer) === usual ? [] : [{ label, ...describe(answer, format), place }]
    }),
  ]
}

/** Columns of values, details and places in a line of 80. */
const starts = { value: 10, detail: 25, place: 56 }
/** Those of checks, whose names are longer. */
const checkStarts = { value: 25, detail: 33, place: 56 }

function formatLine(
  {
    label,
    value,
    detail: explained = '',
    reasons,
    signing,
    place = '',
    columns: at = starts,
  }: Line,
  { paint, columns, verbose }: Layout,
): string {
  const detail = reasons === undefined ? explained : describeReasons(reasons, verbose, signing)
  const prefix = pad(label, at.value)
  const start = prefix + escapeInvisible(value)
  const first = detail === '' ? start : pad(start, at.detail) + escapeInvisible(detail)
  const whole = place === '' ? first : pad(first, at.place) + escapeInvisible(place)
  if (measureWidth(whole) <= columns) return paintLabel(whole, label, paint)
  const indent = ' '.repeat(starts.value)
  const [head = '', ...rest] = [
    ...wrap(first.slice(prefix.length), columns - prefix.length, '').split('\n'),
    ...(place === '' ? [] : [truncate(escapeInvisible(place), columns - indent.length)]),
  ]
  return [paintLabel(prefix + head, label, paint), ...rest.map((line) => indent + line)].join('\n')
}

function pad(text: string, width: number): string {
  const used = measureWidth(text)
  return used < width ? text + ' '.repeat(width - used) : `${text}  `
}

function paintLabel(line: string, label: string, paint: Paint): string {
  return (label.startsWith(' ') ? paint.dim(label) : paint.bold(label)) + line.slice(label.length)
}

/** A change of an answer by another answer of a reading. */
interface Variation {
  reading: string
  answer: string
  changes: { field: string; after: Json }[]
}

function readVariations(output: JsonObject): Variation[] {
  return toList(output['vary'])
    .filter(isObject)
    .map(({ reading, answer, changes }) => ({
      reading: String(reading),
      answer: Array.isArray(answer) ? answer.map(String).join('+') : String(answer),
      changes: toList(changes)
        .filter(isObject)
        .map(({ field, after = null }) => ({ field: String(field), after })),
    }))
}

/** Lists the assumed readings on which something rests that is shown. */
function listAssumed(output: JsonObject, verbose: boolean): string[] {
  const names = Object.keys(isObject(output['assumed']) ? output['assumed'] : {})
  const variations = readVariations(output)
  const outcome = readValue(output['outcome'])
  if (variations.length === 0 || outcome === undefined || outcome === 'served' || verbose)
    return names
  const shown =
    outcome === 'refused'
      ? /^(?:outcome|connection)/
      : /^(?:outcome|connection|access|checks|redirect|response\.(?:status|location)$)/
  return names.filter(
    (name) =>
      name === 'unmanaged' ||
      variations.some(
        ({ reading, changes }) =>
          reading === name && changes.some(({ field }) => shown.test(field)),
      ),
  )
}

/** Lists what the other answers of each assumed reading would change. */
function listVariations(output: JsonObject, assumed: string[], columns: number): string[] {
  const variations = readVariations(output)
  return assumed
    .filter((name) => name !== 'unmanaged')
    .flatMap((name) => {
      const answers = groupBy(
        variations.filter(({ reading }) => reading === name),
        ({ changes }) => describeChanges(changes),
      )
      return [
        '',
        formatNote(name, `${findMeaning(name)}.`, columns),
        ...Array.from(answers, ([changed, each]) =>
          wrap(`${listSome(each.map(({ answer }) => answer))}: ${changed}`, columns - 10, '')
            .split('\n')
            .map((line, i) => ' '.repeat(i === 0 ? 10 : 12) + line)
            .join('\n'),
        ),
      ]
    })
}

/** Describes changed answers; an outcome stands for what follows from it. */
function describeChanges(changes: Variation['changes']): string {
  const isOutcome = changes.some(({ field }) => field === 'outcome')
  return listSome(changes.map(describeChange), isOutcome ? 1 : 3)
}

function describeChange({ field, after }: Variation['changes'][number]): string {
  const value = readValue(after)
  if (value === undefined) return `${field} ${describeSide(field, { unknown: readReasons(after) })}`
  if (field === 'origin.main') return `${field} ${describeTargets(value)}`
  if (field === 'origin.backups')
    return `${field} ${toList(value).map(describeTargets).join(', then ')}`
  if (isObject(value) && typeof value['pointer'] === 'string')
    return `${field} ${String(value['item'])}${value['pointer']}`
  return `${field} ${describeSide(field, { value })}`
}

function formatNote(label: string, text: string, columns: number): string {
  return label.padEnd(10) + wrap(text, columns, ' '.repeat(10)).trimStart()
}

/** Lists what else there is to know. */
function listNotes(output: JsonObject): [label: string, text: string][] {
  const known = toList(output['notes'])
  return [
    ...(known.includes('extend-set')
      ? [['Note', 'extend may change more than is described here.'] satisfies [string, string]]
      : []),
    ...(known.includes('origin-loop')
      ? [['Note', 'an origin leads back to this domain.'] satisfies [string, string]]
      : []),
  ]
}

/** Describes in words what the answers rest on. */
function formatAssumed(
  output: JsonObject,
  assumed: string[],
  varies: boolean,
): [label: string, text: string][] {
  if (assumed.length === 0) return []
  const clauses = assumed.map((name) =>
    name === 'unmanaged' ? describeUnmanaged(output) : `${findMeaning(name)} (${name})`,
  )
  const name = assumed.find((each) => each !== 'unmanaged')
  const vary = varies ? '' : '--vary shows what each would change; '
  const hint = name === undefined ? '' : ` ${vary}"edgewise explain ${name}".`
  return [['Assumed', `${clauses.join('; ')}.${hint}`]]
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
