import { createHash } from 'node:crypto'
import type { Items } from './items.ts'
import { isInsensitive, matchRegex, readText } from './matching.ts'
import { choose, known, map, bind, type Cond, type Result } from './result.ts'
import { client, readSubject } from './subjects.ts'
import type { World } from './trace.ts'
import { filterArguments, listArguments, type RequestUrl } from './url.ts'
import { parseMinute, toInstant } from './zone.ts'

export type SignedUrls = Items['visit_timestamp']

/** What a URL carries in the places of a signature. */
export interface Signed {
  key: string
  timeText: string
  /** Unix time. */
  time: number
  uri: string
}

/** A: whether the item covers the client's URL (request semantics, 3.2). */
export function isCovered(world: World, value: SignedUrls): Cond {
  const where = 'visit_timestamp/pattern'
  return bind(readText(world, value.pattern), (pattern) => {
    const { port } = world.facts.url
    const withoutPort = port !== null && world.is('R13', 'without-port')
    const subject = readSubject(
      world,
      { ...client, withoutPort },
      'whole-url',
      `undecidable ${where}`,
    )
    const use = { pattern, ci: isInsensitive(world), where, extent: 'R4' } as const
    return matchRegex(world, use, subject)
  })
}

/** Finds the parts of a signature; null if the URL is unsigned. */
export function findSigned(world: World, value: SignedUrls): Signed | null {
  const found = value.req_uri_type <= 2 ? findInQuery(world, value) : findInPath(world, value)
  if (found === null) return null
  const { key, timeText, uri } = found
  const time = readTime(world, value.time_format, timeText)
  return time === null ? null : { key, timeText, uri, time }
}

type Parts = Omit<Signed, 'time'>

function findInQuery(world: World, value: SignedUrls): Parts | null {
  const { path, query } = world.facts.url
  const { keyname = 'key', timename = 'time' } = value
  const list = listArguments(query)
  const keyAt = list.findIndex(({ name }) => name === keyname)
  const timeAt = list.findIndex(({ name }) => name === timename)
  const [key = '', timeText = ''] = [list[keyAt]?.value, list[timeAt]?.value]
  if (key === '' || timeText === '') return null
  const isInOrder = value.req_uri_type === 1 ? keyAt < timeAt : timeAt < keyAt
  if (!isInOrder && world.is('R33', 'strict')) return null
  return { key, timeText, uri: path }
}

function findInPath(world: World, value: SignedUrls): Parts | null {
  const match = /^\/([^/]+)\/([^/]+)(\/.*)$/.exec(world.facts.url.path)
  if (match === null) return null
  const [, first = '', second = '', uri = ''] = match
  return value.req_uri_type === 3
    ? { timeText: first, key: second, uri }
    : { key: first, timeText: second, uri }
}

function readTime(world: World, format: string, text: string): number | null {
  if (format === 'timestamp') return /^\d{1,12}$/.test(text) ? Number(text) : null
  if (format === 'timestamp_hex')
    return /^[0-9a-f]{1,10}$/i.test(text) ? Number.parseInt(text, 16) : null
  const local = parseMinute(text)
  return local === null ? null : toInstant(local, readZone(world))
}

/** The zone of windows and dates. */
export function readZone(world: World): string {
  const answer = world.reading('R31')
  return answer === 'service' ? (world.trace.config.timezone ?? 'UTC') : answer
}

/** The client's URL without the signature (request semantics, 3.1, "strip"). */
export function stripSignature(world: World): Result<RequestUrl> {
  const { url } = world.facts
  return bind(world.item('visit_timestamp'), (value) => {
    if (value === null) return known(url)
    return choose(
      isCovered(world, value),
      () => {
        const signed = findSigned(world, value)
        return known(signed === null ? url : takeOut(world, value, url, signed))
      },
      known(url),
    )
  })
}

function takeOut(world: World, value: SignedUrls, url: RequestUrl, signed: Signed): RequestUrl {
  if (value.req_uri_type <= 2) return { ...url, query: dropSignature(world, value, url.query) }
  const keepsTime = world.is('R35', 'key-only')
  return { ...url, path: keepsTime ? `/${signed.timeText}${signed.uri}` : signed.uri }
}

/** A query without the arguments of the signature. */
export function dropSignature(
  world: World,
  { keyname = 'key', timename = 'time' }: SignedUrls,
  query: string | null,
): string | null {
  const keepsTime = world.is('R35', 'key-only')
  const isDropped = (name: string): boolean => name === keyname || (name === timename && !keepsTime)
  const hasAny = listArguments(query).some(({ name }) => isDropped(name))
  return hasAny ? filterArguments(query, (name) => !isDropped(name)) : query
}

/** Signals a fact about the signature that contradicts the computation. */
export class Clash extends Error {}

/** Whether the signature in the URL is wrong (request semantics, 3.2, "forged"). */
export function isForged(world: World, value: SignedUrls, signed: Signed): Cond {
  const keys = readText(world, value.key)
  const { signature } = world.facts
  if (keys.known) {
    const isValid = keys.value
      .split(' ')
      .filter((key) => key !== '')
      .some((key) => computeSignature(value, signed, key) === signed.key.toLowerCase())
    if (signature !== undefined && isValid !== (signature === 'valid')) throw new Clash()
    return known(!isValid)
  }
  return signature === undefined ? map(keys, () => false) : known(signature === 'invalid')
}

function computeSignature(value: SignedUrls, signed: Signed, key: string): string {
  const { style = '$ourkey$uri$time' } = value
  const text = style.replace(/\$(ourkey|uri|time)/g, (_, name: string) =>
    name === 'ourkey' ? key : name === 'uri' ? signed.uri : signed.timeText,
  )
  return createHash('md5').update(text).digest('hex')
}
