import { findOnly } from './access.ts'
import { report, type Answer } from './answers.ts'
import {
  decideField,
  listNewRules,
  listOldRules,
  readCacheSource,
  toSeconds,
  type CacheRule,
  type Fields,
} from './cache-rules.ts'
import { readCacheHeader } from './headers.ts'
import type { Items, RuleName } from './items.ts'
import {
  all,
  both,
  choose,
  isYes,
  known,
  map,
  no,
  not,
  some,
  sortTexts,
  unknown,
  yes,
  type Cond,
  type Result,
} from './result.ts'
import type { Trace, World } from './trace.ts'

type FieldName = 'policy' | 'seconds' | 'followsOrigin' | 'obeysNoCache'

/** A field of the rule that decides. */
function readField<K extends FieldName>(world: World, name: K): Result<Fields[K]> {
  return world.once(`cache.${name}`, () =>
    decideField(world, readCacheSource(world), (fields) => known(fields[name])),
  )
}

/** Domains and scheme of the key. */
function readShare(world: World): Result<{ domains: string[]; scheme: string }> {
  const { host, scheme } = world.facts.url
  return map(world.item('cache_share'), (value) => {
    if (value === null)
      return { domains: [host], scheme: world.is('R48', 'separate') ? scheme : 'any' }
    const { share_way, domain = host } = value
    if (share_way === 'inner_share') return { domains: [host], scheme: 'any' }
    const domains = sortTexts(new Set([host, domain.toLowerCase()]))
    return { domains, scheme: share_way === 'cross_all_share' ? 'any' : scheme }
  })
}

function readKey(world: World): Result<unknown> {
  const source = readCacheSource(world)
  const url = source.url(world)
  return decideField<unknown>(world, source, ({ policy, keyQuery }) =>
    policy === 'bypass'
      ? known(null)
      : both(readShare(world), url, (share, { path, query }) =>
          known({ ...share, path, query: keyQuery(query) }),
        ),
  )
}

const serverErrors = ['500', '501', '502', '503', '504', '506']

/** Seconds by status of one of the error items. */
function listErrors(value: Items['cache_error_code'] | Items['error_bcache']): Map<string, number> {
  const seconds =
    value.bcache === 'off'
      ? 0
      : toSeconds(Number(value.cache_time ?? 0), value.cache_unit ?? 'second')
  const codes = value.code.flatMap((code) => (/^5xx$/i.test(code) ? serverErrors : [code]))
  return new Map(sortTexts(new Set(codes)).map((code) => [code, seconds]))
}

type Errors = Record<string, number>

/** `errorSeconds`. */
function readErrors(world: World): Result<Errors> {
  return world.once('cache.errorSeconds', () => {
    const first = world.item('cache_error_code')
    const second = world.item('error_bcache')
    const isSet = (item: Result<unknown>): Cond => map(item, (value) => value !== null)
    const list = (item: typeof first | typeof second): Result<Errors> =>
      map<Items['cache_error_code'] | Items['error_bcache'] | null, Errors>(item, (value) =>
        value === null ? {} : Object.fromEntries(listErrors(value)),
      )
    return choose(
      isSet(first),
      () =>
        choose(
          isSet(second),
          () => list(world.is('R45', 'cache_error_code') ? first : second),
          () => list(first),
        ),
      () => list(second),
    )
  })
}

function readStatus(world: World): Result<number> {
  const { status } = world.facts
  return status === undefined ? unknown('not-given origin.status') : known(status)
}

/** The seconds that are listed for the origin's status; null if it is not listed. */
function readListed(world: World): Result<number | null> {
  const errors = readErrors(world)
  const status = readStatus(world)
  if (errors.known && Object.keys(errors.value).length === 0) return known(null)
  if (status.known && status.value < 400) return known(null)
  return both(errors, status, (list, code) => known(list[String(code)] ?? null))
}

type Directives = Map<string, string | null>

/** The directives of a header such as `Cache-Control`, by lower-case name. */
function parseDirectives(text: string | null): Directives {
  const parts = (text ?? '').match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []
  const found: Directives = new Map()
  for (const part of parts) {
    const [name = '', ...rest] = part.split('=')
    const value =
      rest.length === 0
        ? null
        : rest
            .join('=')
            .trim()
            .replace(/^"(.*)"$/, '$1')
    const key = name.trim().toLowerCase()
    if (key !== '' && !found.has(key)) found.set(key, value)
  }
  return found
}

function readDirectives(world: World, header: string): Result<Directives> {
  return map(readCacheHeader(world, header), parseDirectives)
}

function readCount(directives: Directives, name: string): number | null {
  const text = directives.get(name)
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : null
}

const dateForms = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]

/** Reads a date of HTTP, in seconds; null if it is none. */
function parseDate(text: string | null): number | null {
  if (text === null) return null
  const form = dateForms.findIndex((pattern) => pattern.test(text))
  if (form < 0) return null
  const time = Date.parse(form === 2 ? `${text} GMT` : text)
  return Number.isNaN(time) ? null : time / 1000
}

/** The time that the origin gives; null if it gives none. */
function readOriginTime(world: World): Result<number | null> {
  const age = map(readDirectives(world, 'cache-control'), (directives) => {
    const plain = readCount(directives, 'max-age')
    return world.is('R79', 'used') ? (readCount(directives, 's-maxage') ?? plain) : plain
  })
  return choose<number | null>(
    map(age, (seconds) => seconds !== null),
    age,
    () => {
      const expires = map(readCacheHeader(world, 'expires'), parseDate)
      const date = map(readCacheHeader(world, 'date'), parseDate)
      const has = (time: Result<number | null>): Cond => map(time, (value) => value !== null)
      return choose<number | null>(
        all(
          () => has(expires),
          () => has(date),
        ),
        () => both(expires, date, (end, start) => known((end ?? 0) - (start ?? 0))),
        known(null),
      )
    },
  )
}

/** `lifetime`. */
function readLifetime(world: World): Result<number | null> {
  return world.once('cache.lifetime', () => {
    const listed = readListed(world)
    const seconds = readField(world, 'seconds')
    return choose<number | null>(
      map(listed, (value) => value !== null),
      listed,
      () =>
        choose<number | null>(
          readField(world, 'followsOrigin'),
          () => {
            const given = readOriginTime(world)
            return choose<number | null>(
              map(given, (value) => value !== null),
              given,
              () => (world.is('R42', 'rule-time') ? map(seconds, (value) => value ?? 0) : known(0)),
            )
          },
          seconds,
        ),
    )
  })
}

/** F: the origin's headers forbid caching. */
function forbidsCaching(world: World): Cond {
  const has = (header: string, ...names: string[]): Cond =>
    map(readDirectives(world, header), (found) => names.some((name) => found.has(name)))
  return some(
    () => has('cache-control', 'no-cache', 'no-store'),
    () => has('pragma', 'no-cache'),
    () =>
      world.is('R43', 'wide')
        ? map(
            readDirectives(world, 'cache-control'),
            (found) =>
              found.has('private') ||
              readCount(found, 'max-age') === 0 ||
              readCount(found, 's-maxage') === 0,
          )
        : no,
  )
}

/** Chooses what a reading says where a condition does not hold. */
function otherwise(cond: Cond, rest: () => boolean): Cond {
  return choose(cond, yes, known(rest()))
}

function isMethodStored(world: World): Cond {
  const { method } = world.facts
  const isPlain: Cond =
    method === undefined
      ? unknown('not-given method')
      : known(method === 'GET' || method === 'HEAD')
  return otherwise(isPlain, () => world.is('R49', 'cached'))
}

function isStatusStored(world: World): Cond {
  const isPlain = map(readStatus(world), (status) => status >= 200 && status < 300)
  return otherwise(isPlain, () => world.is('R44', 'rule'))
}

function readStored(world: World): Cond {
  const listed = readListed(world)
  return choose(
    map(listed, (value) => value !== null),
    () => map(listed, (seconds) => (seconds ?? 0) > 0),
    () =>
      all(
        () => map(readField(world, 'policy'), (policy) => policy !== 'bypass'),
        () => isMethodStored(world),
        () => isStatusStored(world),
        () =>
          not(
            all(
              () => readField(world, 'obeysNoCache'),
              () => forbidsCaching(world),
            ),
          ),
        () => map(readLifetime(world), (seconds) => (seconds ?? 0) > 0),
      ),
  )
}

/** The rules of both items as far as these have one value. */
export function listCacheRules(trace: Trace): CacheRule[] {
  const older = findOnly(trace, 'cache_rule') as Items['cache_rule'] | null
  const newer = findOnly(trace, 'cache_rule_list') as Items['cache_rule_list'] | null
  return [...listOldRules(older ?? []), ...listNewRules(newer ?? [])]
}

/** The rules of both items that match, and those that may. */
function listMatches(trace: Trace): { matching: RuleName[]; maybe: RuleName[] } {
  const matches = listCacheRules(trace).map(({ name, match }) => ({
    name,
    cond: trace.ask((world) => match(world, readCacheSource(world))),
  }))
  return {
    matching: matches.filter(({ cond }) => isYes(cond)).map(({ name }) => name),
    maybe: matches.filter(({ cond }) => !cond.known).map(({ name }) => name),
  }
}

function isSameRule(answer: Answer, rule: RuleName): boolean {
  if (!('value' in answer) || answer.value === null) return false
  const named = answer.value as RuleName
  return named.item === rule.item && named.pointer === rule.pointer
}

export function traceCache(trace: Trace): Record<string, unknown> {
  const rule = report(trace, (world) =>
    decideField<RuleName | null>(world, readCacheSource(world), (_, found) =>
      known(found?.name ?? null),
    ),
  )
  const { matching, maybe } = listMatches(trace)
  const field = (name: FieldName): Answer =>
    report(trace, (world) => readField<FieldName>(world, name))
  return {
    rule,
    also: matching.filter((other) => !isSameRule(rule, other)),
    maybe,
    policy: field('policy'),
    seconds: field('seconds'),
    followsOrigin: field('followsOrigin'),
    obeysNoCache: field('obeysNoCache'),
    key: report(trace, readKey),
    errorSeconds: report(trace, readErrors),
    lifetime: report(trace, readLifetime),
    stored: report(trace, readStored),
  }
}
