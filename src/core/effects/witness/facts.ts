import type { ItemKey } from '../../model/item.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { Text } from '../../model/secret.ts'
import { formatMinutes, parseMinutes } from '../../trace/request.ts'
import { splitText } from '../../trace/secret-text.ts'
import { isObject, type Json, type JsonObject, toList } from '../../model/json.ts'
import { carriers } from '../../trace/carrier.ts'
import { readRange } from '../effective.ts'
import { hashSignature } from '../../trace/stages/signature.ts'

/** The instant of all witnesses. */
const now = 1_700_000_000

/** A request of which all is known; a signature is right. */
export function buildPlainRequest(url: string, hasSignature: boolean): JsonObject {
  return {
    url,
    ...(hasSignature ? { signature: 'valid' } : {}),
    method: 'GET',
    headers: { '*': null },
    ip: '198.18.0.1',
    country: 'nowhere',
    isp: 'other',
    at: now,
    time: '12:00',
    bodySize: 0,
    origin: { status: 200, headers: { 'content-type': 'text/html', '*': null }, size: 100_000 },
  }
}

/** Puts a part into a request; headers and the origin's answer are joined. */
export function addPart(request: JsonObject, part: JsonObject): JsonObject {
  const merged = { ...request, ...part }
  for (const name of ['headers', 'origin']) {
    const [own, more] = [request[name], part[name]]
    if (isObject(own) && isObject(more)) merged[name] = addPart(own, more)
  }
  return merged
}

/** Names the facts of a part of a request. */
export function nameFacts(part: JsonObject): string {
  return Object.entries(part)
    .map(([name, each]) => (isObject(each) ? `${name}.${nameFacts(each)}` : name))
    .join()
}

/** Lists what the values of an item say about facts other than the URL, as parts of a request. */
export function listFacts(key: ItemKey, value: Json): JsonObject[] {
  const entries = Array.isArray(value) ? value : [value]
  return entries.flatMap((entry) => (isObject(entry) ? (makers[key]?.(entry) ?? []) : []))
}

type Maker = (value: JsonObject) => JsonObject[]

const makeAddresses: Maker = ({ list }) => listTexts(list).flatMap(listAddresses)
const makeCacheControl: Maker = () =>
  ['max-age=77', 'no-cache'].map((text) => reply('cache-control', text))
const makeErrors: Maker = ({ code }) =>
  listTexts(code).map((each) => status(/5xx/i.test(each) ? 501 : Number(each)))

const makers: Record<ItemKey, Maker | undefined> = {
  ip_black_list: makeAddresses,
  ip_white_list: makeAddresses,
  visit_areas_limit: ({ country_list: list }) => split(list, ',').map((country) => ({ country })),
  referer: ({ list }) =>
    listTexts(list)
      .flatMap((entry) => {
        const host = entry.replace(/^\*\./, '')
        return [host, `a.${host}`, `x${host}`].map((each) => `https://${each}/`)
      })
      .map((text) => header('referer', text)),
  user_agent: ({ ua_list: list }) => split(list, '\n').flatMap((line) => vary('user-agent', line)),
  combined_ban: ({ configs }) => (isObject(configs) ? listBan(configs) : []),
  post_upload_size_limit: ({ limit_value: limit }) => [
    { method: 'POST' },
    ...around([Number(limit) * 1e6, Number(limit) * 1_048_576]).map((bodySize) => ({ bodySize })),
  ],
  visit_timestamp: ({ deadtime }) => [
    ...around([now + Number(deadtime), now]).map((at) => ({ at })),
    { signature: 'invalid' },
  ],
  client_real_ip: ({ head }) =>
    ['10.1.2.3', 'x'].flatMap((text) => listTexts([head]).map((name) => header(name, text))),
  head_control: ({ list }) =>
    toList(list).flatMap((rule) => {
      if (!isObject(rule)) return []
      const isRequest = rule['head_direction'] === 'CLI_REQ' || rule['head_direction'] === 'SER_REQ'
      return listTexts([rule['head']]).map((name) => (isRequest ? header : reply)(name, 'x'))
    }),
  add_back_source_head: ({ head_name: name }) => listTexts([name]).map((each) => header(each, 'x')),
  add_response_head: ({ list }) =>
    toList(list).flatMap((entry) =>
      isObject(entry) ? listTexts([entry['name']]).map((name) => reply(name, 'x')) : [],
    ),
  cache_rule: makeCacheControl,
  cache_rule_list: makeCacheControl,
  cache_error_code: makeErrors,
  error_bcache: makeErrors,
  error_page_rewrite: ({ error_status_code: code }) => [status(Number(code))],
  forward_status: ({ codes }) => toList(codes).map((code) => status(Number(code))),
  new_origin: () => carriers.map((isp) => ({ isp })),
  tos_origin: () => carriers.map((isp) => ({ isp })),
  compress_response: ({ content_type: types, min_size: size, min_size_unit: unit }) => [
    ...encodings,
    ...listCompressed(types, size, unit),
  ],
  smart_compression: (value) => [
    ...encodings,
    ...['gzip', 'brotli'].flatMap((name) =>
      listCompressed(
        value[`${name}_content_type`],
        value[`${name}_compression_value`],
        value[`${name}_compression_unit`],
        ['gzip, br', name === 'gzip' ? name : 'br'],
      ),
    ),
  ],
  speed_limit: ({ begin_time: begin, end_time: end }) =>
    [begin, end].flatMap((limit) =>
      [-1, 0, 1].flatMap((by) => {
        const minute = parseMinutes(String(limit)) + by
        return minute < 0 || minute > 1439 ? [] : [{ time: formatMinutes(minute) }]
      }),
    ),
}

const encodings = ['gzip, br', 'gzip', 'br'].map((text) => header('accept-encoding', text))

/** Answers of the origin with these types, and sizes about the least, to one who takes these. */
function listCompressed(
  types: Json | undefined,
  size: Json | undefined,
  unit: Json | undefined,
  accepted = ['gzip, br'],
): JsonObject[] {
  const limit = Number(size ?? 0)
  const power = unit === 'MB' ? 2 : 1
  const sizes = [...around([limit * 1000 ** power, limit * 1024 ** power]), 1e10]
  const answers = listTexts(types).flatMap((type) =>
    sizes.map((bytes) => ({ size: bytes, headers: { 'content-type': type } })),
  )
  return accepted.flatMap((text) =>
    answers.map((origin) => ({ ...header('accept-encoding', text), origin })),
  )
}

function listBan({ method, ip, referer, ua }: JsonObject): JsonObject[] {
  const list = (part: Json | undefined) => (isObject(part) ? listTexts(part['list']) : [])
  return [
    ...listBanned({ method, ip, referer, ua }),
    ...(method === undefined ? [] : [{ method: 'POST' }, { method: 'PUT' }]),
    ...list(ip).flatMap(listAddresses),
    ...list(referer).flatMap((text) => vary('referer', text)),
    ...list(ua).flatMap((text) => vary('user-agent', text)),
  ]
}

/** What fulfils all conditions of a ban, and what all but those that must not hold. */
function listBanned(conditions: Record<string, Json | undefined>): JsonObject[] {
  const parts = Object.entries(conditions).flatMap(([name, part]): JsonObject[] => {
    if (!isObject(part) || part['is_match'] === 'no') return []
    const [first = ''] = listTexts(part['list'])
    if (name === 'method') return [{ method: String(part['method_type'] ?? 'post').toUpperCase() }]
    if (name === 'ip') return listAddresses(first).slice(0, 1)
    return [header(name === 'ua' ? 'user-agent' : name, first.replace(/^\^|\$$/g, ''))]
  })
  return parts.length < 2 ? [] : [parts.reduce(addPart)]
}

/** A text, what is near to it, and the same in other letters. */
function vary(name: string, text: string): JsonObject[] {
  const bare = text.replace(/^\^|\$$/g, '')
  const near = [
    bare,
    `x${bare}`,
    `${bare}x`,
    bare.toUpperCase(),
    bare.toLowerCase(),
    text,
    'x',
    bare.slice(1),
  ]
  return near.filter((each) => each !== '').map((each) => header(name, each))
}

/** An address; of a network the first, the last, and those beside it. */
function listAddresses(entry: string): JsonObject[] {
  const range = readRange(entry)
  if (range === null) return [entry, '2001:db8:ffff::1'].map((ip) => ({ ip }))
  const [first, last] = range
  return [first, last, first - 1, last + 1]
    .filter((bits) => bits >= 0 && bits < 2 ** 32)
    .map((bits) => ({
      ip: [24, 16, 8, 0].map((by) => Math.floor(bits / 2 ** by) % 256).join('.'),
    }))
}

/** Signs a path in the way of a `visit_timestamp`, with each of its keys that is known. */
export function signPath(path: string, value: JsonObject, zone: string): string[] {
  const { time_format: format, req_uri_type: layout, style = '', key } = value
  const { timename = 'time', keyname = 'key' } = value
  const times: Record<string, string> = {
    timestamp_hex: now.toString(16),
    date_minute: formatLocal(zone),
  }
  const time = times[String(format)] ?? String(now)
  const [uri = '', query] = path.split('?')
  const order = style === '' ? '$ourkey$uri$time' : String(style)
  const keys = typeof key === 'string' ? key.split(' ').filter((each) => each !== '') : []
  const hashes = keys.map((each) => hashSignature(order, each, uri, time))
  return [...hashes, '0'.repeat(32)].map((hash) => {
    if (layout === 3 || layout === 4)
      return (layout === 3 ? `/${time}/${hash}` : `/${hash}/${time}`) + path
    const pair = [`${String(keyname)}=${hash}`, `${String(timename)}=${time}`]
    const signed = (layout === 1 ? pair : pair.toReversed()).join('&')
    return `${uri}?${query === undefined ? '' : `${query}&`}${signed}`
  })
}

function formatLocal(zone: string): string {
  const local = new Date(createTimeZone(zone).toLocal(now * 1000))
  return local.toISOString().replace(/[-T:]/g, '').slice(0, 12)
}

function header(name: string, text: string): JsonObject {
  return { headers: { [name.toLowerCase()]: text } }
}

function reply(name: string, text: string): JsonObject {
  return { origin: header(name, text) }
}

function status(code: number): JsonObject {
  return { origin: { status: code } }
}

function around(limits: number[]): number[] {
  return limits.flatMap((limit) => [limit, limit + 1, limit - 1]).filter((each) => each >= 0)
}

/** The texts of a list, without secrets. */
function listTexts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : []
}

function split(list: Json | undefined, by: string): string[] {
  return listTexts(splitText(castAccepted<Text>(list ?? ''), by))
}
