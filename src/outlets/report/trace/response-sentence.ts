import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { getOrAdd } from '../../../core/model/lists.ts'
import { listAll, listSome } from '../../../core/model/text/words.ts'
import { describeReasons, part, readReasons, readValue, type ReadRule } from './answers.ts'
import { formatSecondsInWords } from './duration.ts'

/** Describes what follows an error of the origin: other pages, and how long it is cached. */
export function describeErrors(trace: JsonObject, readRule: ReadRule): string {
  // Of several pages for a status, the last one counts.
  const pageOf = new Map(
    toList(readRule({ item: 'error_page_rewrite', pointer: '' }))
      .filter(isObject)
      .map((page) => [Number(page['error_status_code']), String(page['redirect_url'])]),
  )
  const pages = new Map<string, number[]>()
  for (const [code, url] of pageOf) getOrAdd(pages, url, () => []).push(code)
  const times = new Map<number, number[]>()
  const seconds = readValue(part(trace, 'cache', 'errorSeconds'))
  for (const [status, time] of Object.entries(isObject(seconds) ? seconds : {}))
    getOrAdd(times, Number(time), () => []).push(Number(status))
  const clauses = [
    ...Array.from(pages, ([url, codes]) => `${formatCodes(codes)} → ${url}`),
    ...Array.from(times, ([time, codes]) =>
      time === 0
        ? `${formatCodes(codes)} not cached`
        : `${formatCodes(codes)} cached for ${formatSecondsInWords(time)}`,
    ),
  ]
  return clauses.length === 0 ? '' : `Errors: ${clauses.join('; ')}.`
}

/** Formats status codes, those that follow each other as a range: `404, 500–504`. */
function formatCodes(codes: number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const code of codes.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range?.[1] === code - 1) range[1] = code
    else ranges.push([code, code])
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ')
}

/** Describes how a response is sent: compressed, and how fast. */
export function describeTransfer(trace: JsonObject, readRule: ReadRule): string {
  const response = part(trace, 'response')
  const isSet = (...items: string[]) =>
    items.some((item) => readRule({ item, pointer: '' }) !== null)
  return [
    describeCompression(
      part(response, 'compression'),
      isSet('smart_compression', 'compress_response'),
    ),
    describeLimit(part(response, 'speedLimit'), isSet('speed_limit')),
    describeRate(readValue(part(response, 'rateLimit'))),
    readValue(part(response, 'drag')) === true ? 'A part of the video is sent.' : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function describeCompression(answer: Json | undefined, isSet: boolean): string {
  const value = readValue(answer)
  if (value === 'none') return isSet ? 'Not compressed.' : ''
  if (value !== undefined) return `Compressed with ${String(value)}.`
  const facts: Record<string, string | undefined> = {
    'not-given origin.headers.content-type': 'content type',
    'not-given origin.size': 'size',
  }
  const reasons = readReasons(answer)
  const named = reasons.map((reason) => facts[reason])
  if (named.some((each) => each === undefined))
    return `Whether it is compressed is unknown: ${describeReasons(reasons, false)}.`
  return `Compressed if its ${named.join(' and ')} ${named.length === 1 ? 'fits' : 'fit'}.`
}

function describeLimit(answer: Json | undefined, isSet: boolean): string {
  const value = readValue(answer)
  if (value === null) return isSet ? 'No speed limit holds.' : ''
  if (value !== undefined) return `At most ${String(value)} KB/s.`
  return `Its speed limit is unknown: ${describeReasons(readReasons(answer), false)}.`
}

function describeRate(limit: Json | undefined): string {
  if (!isObject(limit)) return ''
  const after = limit['after']
  const rest = typeof after === 'string' ? ` after the first ${after}` : ''
  return `At most ${String(limit['rate'])}/s${rest}.`
}

/** Describes which headers are set or taken away, of the response and of the origin's request. */
export function describeHeaders(trace: JsonObject): string {
  const response = readNames(part(trace, 'response', 'headers'))
  const origin = readNames(part(trace, 'origin', 'headers'))
  const clauses = [
    ...(response.set.length === 0 ? [] : [`sets ${listNames(response.set)}`]),
    ...(response.removed.length === 0 ? [] : [`removes ${listNames(response.removed)}`]),
    ...(origin.set.length === 0 ? [] : [`sends ${listNames(origin.set)} to the origin`]),
    ...(origin.removed.length === 0 ? [] : [`sends no ${listNames(origin.removed)} to the origin`]),
  ]
  return clauses.length === 0 ? '' : `It ${clauses.join(', ')}.`
}

function readNames(headers: Json | undefined): { set: string[]; removed: string[] } {
  const names = Object.entries(isObject(headers) ? headers : {})
  const removed = names.filter(([, answer]) => readValue(answer) === null).map(([name]) => name)
  return { set: names.map(([name]) => name).filter((name) => !removed.includes(name)), removed }
}

function listNames(names: string[]): string {
  return names.length > 3 ? listSome(names) : listAll(names, 'and')
}
