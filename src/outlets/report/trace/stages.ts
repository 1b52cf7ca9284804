import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { countMore, mapSome, pluralize } from '../../../core/model/text/words.ts'
import {
  describeAnswer,
  describeCheckRule,
  describeChoice,
  describePlace,
  describeRule,
  explainUnknown,
  listChecks,
  part,
  passes,
  readReasons,
  readTraced,
  readValue,
  type ReadRule,
  type TracedText,
} from './answers.ts'
import { formatCount, formatSeconds } from './duration.ts'
import { describeCompression } from './sentence.ts'

/** A line: its label, its value, what explains it, and where that stands. */
export interface Line {
  label: string
  value: string
  /** Empty for none, as the place. */
  detail: string
  place: string
}

/** A line of an answer; without one of its own, the answer is that of the field. */
type Row = [label: string, field: string, detail?: string, place?: string, answer?: Json]

/** Counts the stages that a request reaches beside the connection; all of them if verbose. */
export function countReached(output: JsonObject, isVerbose: boolean): number {
  const ends = ['refused', 'denied', 'redirect']
  const reached = isVerbose ? -1 : ends.indexOf(String(readValue(output, 'outcome')))
  return reached < 0 ? ends.length : reached
}

/** Lists the lines of the stages that a request reaches; all of them if verbose. */
export function listStages(traced: TracedText, isVerbose: boolean): Line[] {
  const { output } = traced
  const reached = countReached(output, isVerbose)
  const location = describeChoice(readValue(output, 'redirect.location'))
  const isDirect = readValue(output, 'redirect.decision') === 'none'
  const rows: Row[] = [
    ...(reached > 0 ? listAccess(traced, isVerbose) : []),
    ...(reached > 1 && !isDirect ? [['redirect', 'redirect.status', location] satisfies Row] : []),
    ...(reached > 2
      ? [...listCache(traced, isVerbose), ...listOrigin(traced), ...listResponse(traced)]
      : []),
  ]
  return rows.map(([label, field, detail = '', place = '', answer = part(output, field)]) => {
    const value = part(answer, 'value')
    return value === undefined
      ? { label, value: 'unknown', detail: explainUnknown(output, answer, isVerbose), place }
      : { label, value: describeAnswer(field, { value }), detail, place }
  })
}

function listAccess({ output, readRule }: TracedText, isVerbose: boolean): Row[] {
  const checks = listChecks(output)
  const passing = checks.filter((check) => check['state'] !== 'absent' && passes(check))
  const counted = pluralize(passing.length, 'check passes', 'checks pass')
  const hint = isVerbose ? '' : ' (-v lists them)'
  return [
    ['access', 'access.decision', passing.length === 0 ? '' : counted + hint],
    ...checks
      .filter((check) => isVerbose || !passes(check))
      .map((check): Row => {
        const { item, state, exempt, rule, result } = check
        const detail = state === 'absent' ? 'not set' : describeCheckRule(check, readRule)
        const place = describePlace(isObject(exempt) ? exempt : rule)
        return [`  ${String(item)}`.padEnd(23), '', detail, place, result]
      }),
  ]
}

function listCache({ output, readRule }: TracedText, isVerbose: boolean): Row[] {
  const rule = readValue(output, 'cache.rule')
  const field = readValue(output, 'cache.policy') === 'cache' ? 'cache.seconds' : 'cache.policy'
  const named = rule === null ? 'no rule' : describeRule(rule, readRule)
  const others = ['also', 'maybe'].flatMap((name) =>
    mapSome(
      toList(part(output, `cache.${name}`)),
      isVerbose ? Infinity : 3,
      (each): Row => {
        const value = describeTime(each, readRule)
        return [`  ${name}`, '', describeRule(each, readRule), describePlace(each), { value }]
      },
      (rest): Row => [`  ${name}`, '', '', '', { value: `${countMore(rest)} (-v lists them)` }],
    ),
  )
  const rows: Row[] = [
    ['cache', field, named, describePlace(rule)],
    ...others,
    ['  key', 'cache.key'],
    ['  stored', 'cache.stored'],
  ]
  return rows.filter(([, each]) => each !== 'cache.key' || readValue(output, each) !== null)
}

/** Describes the time of a cache rule. */
function describeTime(rule: Json, readRule: ReadRule): string {
  const value = readTraced(rule, readRule)
  const count = part(value, 'expire') ?? part(value, 'time')
  const unit = part(value, 'expire_unit') ?? part(value, 'timeunit') ?? 's'
  return count === undefined ? '' : formatCount(Number(count), String(unit))
}

function listOrigin(traced: TracedText): Row[] {
  const read = (name: string) => readValue(traced.output, `origin.${name}`)
  const how = ['protocol', 'port', 'host'].map(read)
  const [protocol, port, host] = how.map(describeChoice)
  const value = `${protocol}, port ${port}, Host: ${host}`
  const isReached = read('main') !== null && how.some((each) => each !== undefined)
  return [
    ['origin', 'origin.main', '', findPlace(traced, [String(read('item'))])],
    ...toList(read('backups')).map((each): Row => [
      '  backup',
      'origin.main',
      '',
      '',
      { value: each },
    ]),
    ...(isReached ? [['  as', '', '', '', { value }] satisfies Row] : []),
    ['  url', 'origin.url', '', describePlace(read('rewrite'))],
    ...listHeaders(traced, 'origin.headers'),
  ]
}

function listResponse(traced: TracedText): Row[] {
  const { output } = traced
  const read = (name: string) => readValue(output, name)
  const [location, lifetime] = [read('response.location'), read('cache.lifetime')]
  const isStored = read('cache.stored') === true && typeof lifetime === 'number'
  const time = isStored ? `${formatSeconds(lifetime)} in the cache from now on` : ''
  const compression = ['smart_compression', 'compress_response']
  const treatments: [label: string, name: string, usual: Json, items: string[], answer?: Json][] = [
    ['encoding', 'compression', 'none', compression, { value: describeCompression(output) }],
    ['limit', 'speedLimit', null, ['speed_limit']],
    ['rate', 'rateLimit', null, ['rate_limit']],
    ['seeking', 'drag', false, ['video_drag']],
  ]
  return [
    ['response', 'response.status', typeof location === 'string' ? location : time],
    ...listHeaders(traced, 'response.headers'),
    ...treatments
      .filter(([, name, usual]) => read(`response.${name}`) !== usual)
      .map(([label, name, , items, answer]): Row => {
        return [`  ${label}`, `response.${name}`, '', findPlace(traced, items), answer]
      }),
  ]
}

function listHeaders({ output }: TracedText, field: string): Row[] {
  const headers = part(output, field)
  return Object.entries(isObject(headers) ? headers : {}).map(([name, answer]) => {
    // Only client_real_ip sends what is not known for this reason alone.
    const isAddress = readReasons(answer).join() === 'not-given ip'
    const shown = isAddress ? "the client's address" : describeAnswer('', answer)
    return ['  header', '', '', '', { value: `${name}: ${shown}` }]
  })
}

/** Finds the place of the first of some items that has one. */
function findPlace({ locate }: TracedText, items: string[]): string {
  const places = items.map((item) => describePlace(locate({ item, pointer: '' })))
  return places.find((place) => place !== '') ?? ''
}
