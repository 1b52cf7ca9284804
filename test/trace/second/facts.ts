import { carriers, isRecord, type Carrier } from './items.ts'
import { parseAddress, type Address } from './ip.ts'
import { sortTexts } from './result.ts'
import { parseUrl, type RequestUrl } from './url.ts'

/** Headers by lower-case name; null: known to be absent. */
export interface Headers {
  named: ReadonlyMap<string, string | null>
  /** Whether all others are known to be absent. */
  noOthers: boolean
  /** One of which it is not known all the same. */
  except?: string
}

/** What is known about the request (request semantics, 1); undefined: not given. */
export interface Facts {
  url: RequestUrl
  method: string | undefined
  headers: Headers
  ip: Address | 'unlisted' | undefined
  /** Empty: on no list. */
  country: string | undefined
  isp: Carrier | undefined
  at: number | undefined
  time: string | undefined
  bodySize: number | undefined
  signature: 'valid' | 'invalid' | undefined
  secrets: ReadonlyMap<string, string>
  status: number | undefined
  originHeaders: Headers
  size: number | undefined
}

const names = [
  'url',
  'method',
  'headers',
  'ip',
  'country',
  'isp',
  'at',
  'time',
  'bodySize',
  'signature',
  'secrets',
  'origin',
]

function fail(fact: string): never {
  throw new Error(`bad fact: ${fact}`)
}

/** Reads one fact; undefined if it is not given. */
function read<T>(
  request: Record<string, unknown>,
  fact: string,
  parse: (value: unknown) => T | null,
): T | undefined {
  const value = request[fact]
  return value === undefined ? undefined : (parse(value) ?? fail(fact))
}

/**
 * Reads the request.
 *
 * @throws Error for a bad fact
 */
export function parseFacts(request: Record<string, unknown>, domain: string): Facts {
  for (const fact of Object.keys(request)) if (!names.includes(fact)) fail(fact)
  const origin = request['origin'] ?? {}
  if (!isRecord(origin)) fail('origin')
  for (const fact of Object.keys(origin))
    if (!['status', 'headers', 'size'].includes(fact)) fail(`origin.${fact}`)
  return {
    url: parseUrl(request['url'], domain),
    method: read(request, 'method', parseMethod),
    headers: parseHeaders(request['headers'] ?? {}, 'headers'),
    ip: read(request, 'ip', (ip) => (typeof ip === 'string' ? parseAddress(ip) : null)),
    country: read(request, 'country', parseCountry),
    isp: read(request, 'isp', (isp) => carriers.find((carrier) => carrier === isp) ?? null),
    at: read(request, 'at', parseInstant),
    time: read(request, 'time', parseTime),
    bodySize: read(request, 'bodySize', parseCount),
    signature: read(request, 'signature', (text) =>
      text === 'valid' || text === 'invalid' ? text : null,
    ),
    secrets: parseSecrets(request['secrets'] ?? {}),
    status: read(origin, 'status', parseStatus),
    originHeaders: parseHeaders(origin['headers'] ?? {}, 'origin.headers'),
    size: read(origin, 'size', parseCount),
  }
}

const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Adds what holds of a usual visitor, and of an origin that answers it, to what is given. */
export function addUsual(facts: Facts): Facts {
  const { headers, originHeaders } = facts
  const usual = new Map<string, string | null>([
    ['user-agent', browser],
    ['accept-encoding', 'gzip, deflate, br'],
  ])
  return {
    ...facts,
    method: facts.method ?? 'GET',
    ip: facts.ip ?? 'unlisted',
    country: facts.country ?? '',
    isp: facts.isp ?? 'other',
    bodySize: facts.bodySize ?? 0,
    headers: headers.noOthers
      ? headers
      : { named: new Map([...usual, ...headers.named]), noOthers: true },
    status: facts.status ?? 200,
    originHeaders: originHeaders.noOthers
      ? originHeaders
      : { named: originHeaders.named, noOthers: true, except: 'content-type' },
  }
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

function parseMethod(method: unknown): string | null {
  return typeof method === 'string' && token.test(method) ? method.toUpperCase() : null
}

function parseCountry(country: unknown): string | null {
  return typeof country === 'string' && country !== '' && country === country.toLowerCase()
    ? country
    : null
}

function parseTime(time: unknown): string | null {
  return typeof time === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? time : null
}

function parseCount(count: unknown): number | null {
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null
}

function parseStatus(status: unknown): number | null {
  const code = parseCount(status)
  return code !== null && code >= 100 && code <= 599 ? code : null
}

function parseInstant(at: unknown): number | null {
  if (typeof at === 'number') return Number.isFinite(at) ? Math.floor(at) : null
  if (typeof at !== 'string') return null
  if (/^-?\d{1,12}(\.\d+)?$/.test(at)) return Math.floor(Number(at))
  const form =
    /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(at)
  if (form === null) return null
  const [, date = '', time = '', sign, hours = '0', minutes = '0'] = form
  const local = Date.parse(`${date}T${time}Z`)
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== date) return null
  if (time.startsWith('24') || Number(hours) > 23 || Number(minutes) > 59) return null
  const offset = (Number(hours) * 60 + Number(minutes)) * 60
  return local / 1000 - (sign === '-' ? -offset : offset)
}

function parseHeaders(value: unknown, fact: string): Headers {
  if (!isRecord(value)) fail(fact)
  const named = new Map<string, string | null>()
  let noOthers = false
  for (const name of sortTexts(Object.keys(value))) {
    const text = value[name]
    if (name === '*') {
      if (text !== null) fail(`${fact}.*`)
      noOthers = true
      continue
    }
    if (!token.test(name) || (text !== null && !isHeaderText(text))) fail(`${fact}.${name}`)
    const lower = name.toLowerCase()
    const earlier = named.get(lower)
    if (earlier !== undefined && (earlier === null) !== (text === null)) fail(`${fact}.${name}`)
    named.set(lower, typeof earlier === 'string' ? `${earlier}, ${text}` : text)
  }
  return { named, noOthers }
}

function isHeaderText(text: unknown): text is string {
  // eslint-disable-next-line no-control-regex
  return typeof text === 'string' && !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)
}

function parseSecrets(value: unknown): Map<string, string> {
  if (!isRecord(value)) fail('secrets')
  const secrets = new Map<string, string>()
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') fail('secrets')
    secrets.set(name, text)
  }
  return secrets
}
