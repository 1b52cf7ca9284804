import { isObject, getOwn, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import { checkCacheTime, isTooLong } from './cache-time.ts'
import type { ItemRow } from './item-spec.ts'
import { warn, refuseMissingField } from './problems.ts'

interface ErrorCaching {
  bcache: 'on' | 'off'
  cache_time?: number | string
  cache_unit?: string
}

/** Codes that the specification lists for both items. */
const codes = ['400', '403', '404', '414', '500', '501', '502', '503', '504', '506']

/**
 * Caching of error answers (specification, "cache_error_code"). The two-year limit is stated for
 * cache rules only.
 */
export const cacheErrorCode: ItemRow = {
  check: (value: Json) => {
    const given = castAccepted<ErrorCaching>(value)
    const long =
      given.cache_time !== undefined &&
      given.cache_unit !== undefined &&
      isTooLong(Number(given.cache_time), given.cache_unit)
    return [
      ...requiredWhenOn(given),
      ...(long
        ? [warn('/cache_time', `${given.cache_time} ${given.cache_unit} is more than two years`)]
        : []),
    ]
  },
  unset: (held) => ({ code: heldCodes(held.candidates, '5XX'), bcache: 'off' }),
}

/**
 * Caching of error answers, the item whose wire name is not stated (specification, "error-status
 * caching with bcache").
 */
export const errorBcache: ItemRow = {
  check: (value: Json) => {
    const given = castAccepted<ErrorCaching>(value)
    const long =
      given.cache_time === undefined
        ? []
        : checkCacheTime('/cache_time', Number(given.cache_time), given.cache_unit ?? 'second')
    return [...requiredWhenOn(given), ...long]
  },
  unset: (held) => ({ code: heldCodes(held.candidates, '5xx'), bcache: 'off' }),
}

function requiredWhenOn(given: ErrorCaching): Problem[] {
  if (given.bcache !== 'on') return []
  const missing = (['cache_time', 'cache_unit'] as const).filter(
    (field) => given[field] === undefined,
  )
  const required = 'with bcache "on" the field'
  return missing.map((field) => refuseMissingField('', `${required} "${field}" is required`))
}

/** The codes to switch off: those that are held; all of them when that is not known. */
function heldCodes(candidates: Json[], all5: string): Json[] {
  const held = candidates
    .flatMap((value) => (isObject(value) ? [getOwn(value, 'code')] : []))
    .flat()
  const known = held.filter((code): code is string => typeof code === 'string')
  return known.length > 0 ? [...new Set(known)].toSorted() : [...codes, all5]
}
