import { type Check, isHeaderEmpty, readClientAddress, testHeader, type Part } from './check.ts'
import { combinedBan, denyUrl } from './bans.ts'
import { isInEntry } from './ip.ts'
import { nameRule, splitList, type Items } from './items.ts'
import { lower, matchPattern, matchesAll, matchRegex, readText } from './matching.ts'
import {
  all,
  known,
  map,
  no,
  not,
  some,
  bind,
  unknown,
  yes,
  type Cond,
  type Result,
} from './result.ts'
import { seen } from './seen.ts'
import { findSigned, isCovered, isForged, type SignedUrls } from './signature.ts'
import type { World } from './trace.ts'

const denyProtocol: Check<'deny_protocol'> = {
  parts: (value) => [
    {
      rule: nameRule('deny_protocol', '/protocol'),
      holds: (world) => known(value.protocol === world.facts.url.scheme),
    },
  ],
}

/** Builds the entries of an IP list. */
function listAddresses(item: string, entries: string[]): Part[] {
  return entries.map((entry, i) => ({
    rule: nameRule(item, `/list/${i}`, entry),
    holds: (world) =>
      bind(readText(world, entry), (text) =>
        map(readClientAddress(world), (address) => isInEntry(address, text)),
      ),
  }))
}

const ipBlackList: Check<'ip_black_list'> = {
  entries: ({ list }) => listAddresses('ip_black_list', list),
}

const ipWhiteList: Check<'ip_white_list'> = {
  entries: ({ list }) => listAddresses('ip_white_list', list),
  entriesPass: () => true,
}

function listCountries({ country_list }: Items['visit_areas_limit']): Part[] {
  return splitList(country_list).map((name) => ({
    rule: nameRule('visit_areas_limit', '/country_list', name),
    holds: ({ facts }) =>
      facts.country === undefined ? unknown('not-given country') : known(facts.country === name),
  }))
}

const visitAreasLimit: Check<'visit_areas_limit'> = {
  entries: listCountries,
  entriesPass: ({ limit_type }) => limit_type === 'white',
}

/** The host of a Referer; null if it has none. */
function findRefererHost(world: World, text: string): string | null {
  const afterScheme = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text)
  if (afterScheme === null) {
    if (world.is('R21', 'no-host')) return null
    return /^[^/:?#]*/.exec(text)?.[0] ?? null
  }
  const [, authority = ''] = afterScheme
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.startsWith('[') ? host.slice(1).replace(/\].*$/, '') : host.replace(/:.*$/, '')
}

function matchReferer(world: World, entry: string, text: string): boolean {
  const host = findRefererHost(world, text)
  if (host === null || host === '') return false
  const [name, wanted] = [lower(host), lower(entry)]
  if (!wanted.startsWith('*.')) return name === wanted
  return name === wanted.slice(2) || name.endsWith(wanted.slice(1))
}

function holdsReferer(entry: unknown): (world: World) => Cond {
  return (world) =>
    bind(readText(world, entry), (wanted) =>
      testHeader(world, 'referer', (text) => known(matchReferer(world, wanted, text))),
    )
}

function deniesEmptyReferer(world: World, allow_empty: boolean): Cond {
  return allow_empty ? no : isHeaderEmpty(world, 'referer')
}

const referer: Check<'referer'> = {
  denies: (world, { type, list, allow_empty = true }) => {
    const someMatches = (): Cond => some(...list.map((entry) => () => holdsReferer(entry)(world)))
    return some(
      () => deniesEmptyReferer(world, allow_empty),
      () =>
        all(
          () => not(isHeaderEmpty(world, 'referer')),
          () => (type === 1 ? someMatches() : not(someMatches())),
        ),
    )
  },
  parts: ({ allow_empty = true }) => [
    {
      rule: nameRule('referer', '/allow_empty'),
      holds: (world) => deniesEmptyReferer(world, allow_empty),
    },
  ],
  entries: ({ list }) =>
    list.map((entry, i) => ({
      rule: nameRule('referer', `/list/${i}`, entry),
      holds: (world) =>
        all(
          () => not(isHeaderEmpty(world, 'referer')),
          () => holdsReferer(entry)(world),
        ),
    })),
  entriesPass: ({ type }) => type !== 1,
}

type Agents = Items['user_agent']

/** Whether a field of the item means "without regard to case". */
function isAgentInsensitive(world: World, field: 'yes' | 'no'): boolean {
  return (field === 'yes') === world.is('R25', 'name')
}

function coversUrl(world: World, value: Agents): Cond {
  return matchPattern(world, {
    kind: value.url_match_type,
    pattern: value.url_pattern,
    ci: isAgentInsensitive(world, value.url_case_insensitive),
    where: 'user_agent/url_pattern',
    source: seen,
  })
}

function matchAgent(world: World, value: Agents, line: string): Cond {
  const isRegex = value.ua_match_type === 'pattern' && world.is('R26', 'regex')
  // These match any text, so the header need not be known.
  if (isRegex && matchesAll(line) && world.is('R20', 'alike')) return yes
  return testHeader(world, 'user-agent', (text) => {
    const ci = isAgentInsensitive(world, value.ua_case_insensitive)
    const [agent, wanted] = ci ? [lower(text), lower(line)] : [text, line]
    if (value.ua_match_type === 'exact') return known(agent === wanted)
    if (!isRegex) return known(agent.includes(wanted))
    const use = { pattern: line, ci, where: 'user_agent/ua_list', extent: 'search' } as const
    return matchRegex(world, use, known(text))
  })
}

function listLines({ ua_list }: Agents): string[] {
  return typeof ua_list === 'string' ? ua_list.split(/\r?\n/).filter((line) => line !== '') : []
}

function deniesEmptyAgent(world: World, value: Agents): Cond {
  return value.allow_empty_ua === 'no' ? isHeaderEmpty(world, 'user-agent') : no
}

const userAgent: Check<'user_agent'> = {
  denies: (world, value) => {
    const someMatches = (): Cond =>
      some(...listLines(value).map((line) => () => matchAgent(world, value, line)))
    return all(
      () => coversUrl(world, value),
      () =>
        some(
          () => deniesEmptyAgent(world, value),
          () =>
            all(
              () => not(isHeaderEmpty(world, 'user-agent')),
              () => (value.ua_type === 'black' ? someMatches() : not(someMatches())),
            ),
        ),
    )
  },
  parts: (value) => [
    {
      rule: nameRule('user_agent', '/allow_empty_ua'),
      holds: (world) =>
        all(
          () => coversUrl(world, value),
          () => deniesEmptyAgent(world, value),
        ),
    },
  ],
  entries: (value) =>
    listLines(value).map((line) => ({
      rule: nameRule('user_agent', '/ua_list', line),
      holds: (world) =>
        all(
          () => coversUrl(world, value),
          () => not(isHeaderEmpty(world, 'user-agent')),
          () => matchAgent(world, value, line),
        ),
    })),
  entriesPass: ({ ua_type }) => ua_type !== 'black',
}

/** The ways in which a signed URL is refused, with the pointers that are named for them. */
const signatureFaults: { pointer: string; holds: (world: World, value: SignedUrls) => Cond }[] = [
  {
    pointer: '/req_uri_type',
    holds: (world, value) =>
      all(known(findSigned(world, value) === null), known(world.is('R32', 'deny'))),
  },
  { pointer: '/deadtime', holds: (world, value) => ifSigned(world, value, isOld) },
  { pointer: '/deadtime', holds: (world, value) => ifSigned(world, value, isEarly) },
  { pointer: '/key', holds: (world, value) => ifSigned(world, value, isForged) },
]

type Signed = NonNullable<ReturnType<typeof findSigned>>

function ifSigned(
  world: World,
  value: SignedUrls,
  holds: (world: World, value: SignedUrls, signed: Signed) => Cond,
): Cond {
  const signed = findSigned(world, value)
  return signed === null ? no : holds(world, value, signed)
}

/** `at` minus the time of the URL. */
function readAge(world: World, signed: Signed): Result<number> {
  const { at } = world.facts
  return at === undefined ? unknown('not-given at') : known(at - signed.time)
}

function isOld(world: World, value: SignedUrls, signed: Signed): Cond {
  return map(readAge(world, signed), (age) => age > value.deadtime)
}

function isEarly(world: World, _value: SignedUrls, signed: Signed): Cond {
  return world.is('R36', 'invalid') ? map(readAge(world, signed), (age) => age < 0) : no
}

const visitTimestamp: Check<'visit_timestamp'> = {
  denies: (world, value) =>
    all(
      () => isCovered(world, value),
      () => deniesSignature(world, value),
    ),
  parts: (value) =>
    signatureFaults.map(({ pointer, holds }) => ({
      rule: nameRule('visit_timestamp', pointer),
      holds: (world) =>
        all(
          () => isCovered(world, value),
          () => holds(world, value),
        ),
    })),
}

/** `if unsigned then R32 = deny else old ∨ early ∨ forged`. */
function deniesSignature(world: World, value: SignedUrls): Cond {
  const signed = findSigned(world, value)
  if (signed === null) return known(world.is('R32', 'deny'))
  return some(
    () => isOld(world, value, signed),
    () => isEarly(world, value, signed),
    () => isForged(world, value, signed),
  )
}

function exceedsLimit(world: World, { limit_value }: Items['post_upload_size_limit']): Cond {
  const { bodySize, method } = world.facts
  const kilo = Number(world.reading('R29'))
  return all(
    () =>
      bodySize === undefined
        ? unknown('not-given bodySize')
        : known(bodySize > limit_value * kilo * kilo),
    () => {
      if (world.is('R28', 'any')) return known(true)
      return method === undefined ? unknown('not-given method') : known(method === 'POST')
    },
  )
}

const postUploadSizeLimit: Check<'post_upload_size_limit'> = {
  parts: (value) => [
    {
      rule: nameRule('post_upload_size_limit', '/limit_value'),
      holds: (world) => exceedsLimit(world, value),
    },
  ],
}

export const checks = {
  deny_protocol: denyProtocol,
  ip_black_list: ipBlackList,
  ip_white_list: ipWhiteList,
  visit_areas_limit: visitAreasLimit,
  referer,
  user_agent: userAgent,
  visit_timestamp: visitTimestamp,
  combined_ban: combinedBan,
  deny_url: denyUrl,
  post_upload_size_limit: postUploadSizeLimit,
}
