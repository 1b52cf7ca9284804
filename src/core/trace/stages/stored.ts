import type { CacheErrorCode, ErrorBcache } from '../../catalog/generated/items.ts'
import { toSeconds } from '../../catalog/cache-time.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { Value } from '../../model/item.ts'
import {
  all,
  any,
  choose,
  isSet,
  map,
  not,
  orElse,
  uniteUnknown,
  Unknown,
  type Answer,
} from '../answer.ts'
import { askOnce, type Evaluation, type Questions } from '../evaluation.ts'
import { notGiven } from '../request.ts'
import { askCache } from './cache.ts'
import { askCacheHeader } from './headers.ts'

/** Status code → seconds for which such a response is cached; 0: not at all. */
export type ErrorSeconds = Record<string, number>

const serverErrors = ['500', '501', '502', '503', '504', '506']

/** Asks for how long errors are cached, by status (`cache_error_code`, `error_bcache`). */
export const askErrorSeconds = askOnce<ErrorSeconds>((e) => {
  const [code, bcache] = [e.item('cache_error_code'), e.item('error_bcache')]
  return choose(
    isSet(code),
    () =>
      choose(
        isSet(bcache),
        () => map(e.reading('R45') === 'cache_error_code' ? code : bcache, readErrors),
        () => map(code, readErrors),
      ),
    () => map(bcache, readErrors),
  )
})

/** Reads for how long errors are cached of one of the two items. */
export function readErrors(value: Value): ErrorSeconds {
  if (value === null) return {}
  const item = castAccepted<CacheErrorCode | ErrorBcache>(value)
  const seconds =
    item.bcache === 'on' ? toSeconds(Number(item.cache_time), item.cache_unit ?? '') : 0
  const codes = item.code.flatMap((each) => (/^5xx$/i.test(each) ? serverErrors : [each]))
  return Object.fromEntries([...new Set(codes)].toSorted().map((each) => [each, seconds]))
}

/** The seconds of the origin's status; null if it is not listed. */
function readListed(e: Evaluation, q: Questions): Answer<number | null> {
  const { status } = e.facts.origin
  if (status !== undefined && status < 400) return null
  return map(e.ask(askErrorSeconds(q)), (seconds) => {
    if (Object.keys(seconds).length === 0) return null
    return status === undefined ? notGiven('origin.status') : (seconds[String(status)] ?? null)
  })
}

/** Asks for how many seconds the response is fresh. */
export const askLifetime = askOnce<number | null>((e, q) => {
  const listed = withStatus(e, readListed(e, q))
  return orElse(listed, () => readUnlisted(e, q))
})

/** Adds that the status is not given to why it is not known whether it is listed. */
function withStatus<T>(e: Evaluation, listed: Answer<T>): Answer<T> {
  if (!(listed instanceof Unknown) || e.facts.origin.status !== undefined) return listed
  return new Unknown([...listed.reasons, 'not-given origin.status'])
}

function readUnlisted(e: Evaluation, q: Questions): Answer<number | null> {
  const { seconds, followsOrigin } = e.ask(askCache(q))
  return choose(
    followsOrigin,
    () => readOriginTime(e, q),
    () => seconds,
  )
}

/** The time that the origin's headers give; without one R42. */
function readOriginTime(e: Evaluation, q: Questions): Answer<number | null> {
  const age = map(e.ask(askCacheHeader(q, 'cache-control')), (control) => readAge(e, control))
  return orElse(age, () =>
    orElse(readExpiry(e, q), () => {
      if (e.reading('R42') === 'not-cached') return 0
      return map(e.ask(askCache(q)).seconds, (ruled) => ruled ?? 0)
    }),
  )
}

/** Reads `max-age`, or by R79 `s-maxage`; null without one. */
function readAge(e: Evaluation, control: string | null): number | null {
  const directives = parseDirectives(control)
  const [shared, own] = ['s-maxage', 'max-age'].map((name) => readSeconds(directives.get(name)))
  const isShared = shared !== null && shared !== own && e.reading('R79') === 'used'
  return (isShared ? shared : own) ?? null
}

/** `Expires` − `Date` in seconds; null if one of them is absent or no date. */
function readExpiry(e: Evaluation, q: Questions): Answer<number | null> {
  const [end, start] = ['expires', 'date'].map((name) =>
    map(e.ask(askCacheHeader(q, name)), parseDate),
  )
  if (end === null || start === null) return null
  return (
    uniteUnknown([end, start]) ??
    map(end ?? null, (last) => Number(last) / 1000 - Number(start) / 1000)
  )
}

function parseDate(text: string | null): number | null {
  if (text === null || !/^[A-Za-z]{3,9},? /.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** Parses `Cache-Control`: names in lower case, with their arguments. */
function parseDirectives(text: string | null): Map<string, string> {
  const found = new Map<string, string>()
  for (const part of (text ?? '').split(',')) {
    const [name = '', ...value] = part.split('=')
    const key = name.trim().toLowerCase()
    if (!found.has(key))
      found.set(
        key,
        value
          .join('=')
          .trim()
          .replace(/^"(.*)"$/, '$1'),
      )
  }
  return found
}

function readSeconds(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null
}

/** Asks whether the response is stored in the cache. */
export const askStored = askOnce<boolean>((e, q) => {
  const listed = withStatus(e, readListed(e, q))
  return choose(
    isSet(listed),
    () => map(listed, (seconds) => (seconds ?? 0) > 0),
    () => isStoredUnlisted(e, q),
  )
})

function isStoredUnlisted(e: Evaluation, q: Questions): Answer<boolean> {
  const { policy, obeysNoCache } = e.ask(askCache(q))
  const { method } = e.facts
  const { status } = e.facts.origin
  return all(
    () => map(policy, (known) => known !== 'bypass'),
    () => {
      if (method === 'GET' || method === 'HEAD') return true
      const isCached = e.reading('R49') === 'cached'
      return isCached ? true : method === undefined ? notGiven('method') : false
    },
    () => {
      if (status !== undefined && status >= 200 && status < 300) return true
      const isStored = e.reading('R44') === 'rule'
      return isStored ? true : status === undefined ? notGiven('origin.status') : false
    },
    () =>
      not(
        all(
          () => obeysNoCache,
          () => isForbidden(e, q),
        ),
      ),
    () => map(e.ask(askLifetime(q)), (seconds) => (seconds ?? 0) > 0),
  )
}

/** Tests whether the origin's headers forbid caching (R43). */
function isForbidden(e: Evaluation, q: Questions): Answer<boolean> {
  return any(
    () =>
      map(e.ask(askCacheHeader(q, 'cache-control')), (text) => {
        const directives = parseDirectives(text)
        if (directives.has('no-cache') || directives.has('no-store')) return true
        const isZero = ['max-age', 's-maxage'].some(
          (name) => readSeconds(directives.get(name)) === 0,
        )
        return (directives.has('private') || isZero) && e.reading('R43') === 'wide'
      }),
    () => map(e.ask(askCacheHeader(q, 'pragma')), (text) => parseDirectives(text).has('no-cache')),
  )
}
