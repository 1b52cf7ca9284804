import type { CacheErrorCode, ErrorBcache } from '../../catalog/generated/items.ts'
import { toSeconds } from '../../catalog/cache-time.ts'
import { all, any, choose, isSet, map, mapBoth, not, orElse, type Answer } from '../answer.ts'
import { given, hasMethod } from '../request.ts'
import type { Run } from '../run.ts'
import { cache } from './cache.ts'
import { readCacheHeader } from './headers.ts'

/** Status code → seconds for which such a response is cached; 0: not at all. */
type ErrorSeconds = Record<string, number>

const serverErrors = ['500', '501', '502', '503', '504', '506']

/** For how long errors are cached, by status (`cache_error_code`, `error_bcache`). */
export function readErrorSeconds(run: Run): Answer<ErrorSeconds> {
  const code = run.read('cache_error_code', null, readErrors)
  const bcache = run.read('error_bcache', null, readErrors)
  const isCodeFirst = bcache === null || run.reading('R45') === 'cache_error_code'
  const [first, second] = isCodeFirst ? [code, bcache] : [bcache, code]
  return orElse(first, () => orElse(second, {}))
}

/** Reads for how long errors are cached of one of the two items. */
export function readErrors(item: CacheErrorCode | ErrorBcache): ErrorSeconds {
  const seconds =
    item.bcache === 'on' ? toSeconds(Number(item.cache_time), item.cache_unit ?? '') : 0
  const codes = item.code.flatMap((each) => (/^5xx$/i.test(each) ? serverErrors : [each]))
  return Object.fromEntries(codes.map((each) => [each, seconds]))
}

/** The seconds of the origin's status; null if it is not listed. */
function readListed(run: Run): Answer<number | null> {
  const { status } = run.facts.origin
  if (status !== undefined && status < 400) return null
  const listed = readErrorSeconds(run)
  if (Object.keys(listed).length === 0) return null
  return mapBoth(
    listed,
    given(status, 'origin.status'),
    (seconds, code) => seconds[String(code)] ?? null,
  )
}

/** For how many seconds the response is fresh; null if that is not known to be limited. */
export function readLifetime(run: Run): Answer<number | null> {
  return run.keep('lifetime', () =>
    orElse(readListed(run), () =>
      choose(
        cache.followsOrigin(run),
        () => readOriginTime(run),
        () => cache.seconds(run),
      ),
    ),
  )
}

/** The time that the origin's headers give (R79); without one R42. */
function readOriginTime(run: Run): Answer<number | null> {
  const age = map(readDirectives(run, 'cache-control'), (directives) => {
    const shared = run.reading('R79') === 'used' ? directives.get('s-maxage') : null
    return shared ?? directives.get('max-age') ?? null
  })
  return orElse(age, () =>
    orElse(readExpiry(run), () =>
      run.reading('R42') === 'not-cached' ? 0 : map(cache.seconds(run), (ruled) => ruled ?? 0),
    ),
  )
}

/** `Expires` − `Date` in seconds; null if one of them is absent or no date. */
function readExpiry(run: Run): Answer<number | null> {
  const [end, start] = ['expires', 'date'].map((name) =>
    map(readCacheHeader(run, name), (text) => {
      const ms = /^[A-Za-z]{3,9},? /.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN
      return Number.isNaN(ms) ? null : ms
    }),
  )
  if (end == null || start == null) return null
  return mapBoth(end, start, (last, first) => (last - first) / 1000)
}

/** Reads a header like `Cache-Control`: names in lower case, with seconds; the first one counts. */
function readDirectives(run: Run, header: string): Answer<ReadonlyMap<string, number | null>> {
  return map(readCacheHeader(run, header), (text) => {
    const parts = (text ?? '').split(',').map((part): [string, number | null] => {
      const [name = '', ...rest] = part.split('=')
      const value = rest
        .join('=')
        .trim()
        .replace(/^"(.*)"$/, '$1')
      return [name.trim().toLowerCase(), /^\d+$/.test(value) ? Number(value) : null]
    })
    return new Map(parts.toReversed())
  })
}

/** Whether the response is stored in the cache. */
export function isStored(run: Run): Answer<boolean> {
  const { facts } = run
  const listed = readListed(run)
  const isLasting = (seconds: number | null) => (seconds ?? 0) > 0
  return choose(isSet(listed), map(listed, isLasting), () =>
    all(
      map(cache.policy(run), (policy) => policy !== 'bypass'),
      () => run.reading('R49') === 'cached' || hasMethod(facts, 'GET', 'HEAD'),
      () =>
        run.reading('R44') === 'rule' ||
        map(given(facts.origin.status, 'origin.status'), (is) => is >= 200 && is < 300),
      () => not(all(cache.obeysNoCache(run), () => isForbidden(run))),
      () => map(readLifetime(run), isLasting),
    ),
  )
}

/** Tests whether the origin's headers forbid caching (R43). */
function isForbidden(run: Run): Answer<boolean> {
  return any(
    map(readDirectives(run, 'cache-control'), (directives) => {
      if (directives.has('no-cache') || directives.has('no-store')) return true
      const isZero = ['max-age', 's-maxage'].some((name) => directives.get(name) === 0)
      return (directives.has('private') || isZero) && run.reading('R43') === 'wide'
    }),
    () => map(readDirectives(run, 'pragma'), (directives) => directives.has('no-cache')),
  )
}
