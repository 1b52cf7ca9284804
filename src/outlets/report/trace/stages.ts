import { isObject, toList, type Json } from '../../../core/model/json.ts'
import { countMore, mapSome, pluralize } from '../../../core/model/text/words.ts'
import {
  describeAnswer,
  describeCheckRule,
  describeChoice,
  describePlace,
  describeRule,
  explainUnknown,
  countReached,
  listChecks,
  listEntries,
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

/** Lists the lines of the stages that a request reaches; all of them if verbose. */
export function listStages(traced: TracedText, isVerbose: boolean): Line[] {
  const { output } = traced
  const location = describeChoice(readValue(output, 'redirect.location'))
  const stages: Row[][] = [
    listAccess(traced, isVerbose),
    [['redirect', 'redirect.status', location]],
    [...listCache(traced, isVerbose), ...listOrigin(traced), ...listResponse(traced)],
  ]
  const rows = stages.slice(0, countReached(output, isVerbose)).flat()
  return rows.flatMap(([label, field, detail = '', place = '', answer = part(output, field)]) => {
    const value = part(answer, 'value')
    const isNothing = value === null || value === false || value === 'none'
    if (isNothing && field !== 'cache.seconds') return []
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
  return [
    ['cache', field, named, describePlace(rule)],
    ...others,
    ['  key', 'cache.key'],
    ['  stored', 'cache.stored'],
  ]
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
  const isReached = read('main') !== null && how.some((each) => each !== undefined)
  const value = isReached ? `${protocol}, port ${port}, Host: ${host}` : null
  return [
    ['origin', 'origin.main', '', findPlace(traced, [String(read('item'))])],
    ...toList(read('backups')).map((each): Row => [
      '  backup',
      'origin.main',
      '',
      '',
      { value: each },
    ]),
    ['  as', '', '', '', { value }],
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
  const place = (...items: string[]) => findPlace(traced, items)
  const compression = read('response.compression') ?? describeCompression(output)
  return [
    ['response', 'response.status', typeof location === 'string' ? location : time],
    ...listHeaders(traced, 'response.headers'),
    ['  encoding', '', '', place('smart_compression', 'compress_response'), { value: compression }],
    ['  limit', 'response.speedLimit', '', place('speed_limit')],
    ['  rate', 'response.rateLimit', '', place('rate_limit')],
    ['  seeking', 'response.drag', '', place('video_drag')],
  ]
}

function listHeaders({ output }: TracedText, field: string): Row[] {
  return listEntries(part(output, field)).map(([name, answer]) => {
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
