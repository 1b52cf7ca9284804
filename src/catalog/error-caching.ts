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

/** Status codes that the specification lists for both items. */
const codes = ['400', '403', '404', '414', '500', '501', '502', '503', '504', '506']

/**
 * Caching of error responses (specification, "cache_error_code"). The two-year limit is stated for
 * cache rules only.
 */
export const cacheErrorCode: ItemRow = {
  check: (value: Json) => {
    const given = castAccepted<ErrorCaching>(value)
    const tooLong =
      given.cache_time !== undefined &&
      given.cache_unit !== undefined &&
      isTooLong(Number(given.cache_time), given.cache_unit)
    return [
      ...checkRequired(given),
      ...(tooLong
        ? [warn('/cache_time', `${given.cache_time} ${given.cache_unit} is more than two years`)]
        : []),
    ]
  },
  unset: (state) => ({ code: listStoredCodes(state.candidates, '5XX'), bcache: 'off' }),
}

/**
 * Caching of error responses, the item without a documented wire name (specification, "error-status
 * caching with bcache").
 */
export const errorBcache: ItemRow = {
  check: (value: Json) => {
    const given = castAccepted<ErrorCaching>(value)
    const tooLong =
      given.cache_time === undefined
        ? []
        : checkCacheTime('/cache_time', Number(given.cache_time), given.cache_unit ?? 'second')
    return [...checkRequired(given), ...tooLong]
  },
  unset: (state) => ({ code: listStoredCodes(state.candidates, '5xx'), bcache: 'off' }),
}

function checkRequired(given: ErrorCaching): Problem[] {
  if (given.bcache !== 'on') return []
  const missing = (['cache_time', 'cache_unit'] as const).filter(
    (field) => given[field] === undefined,
  )
  const required = 'with bcache "on" the field'
  return missing.map((field) => refuseMissingField('', `${required} "${field}" is required`))
}

/** Lists the codes to switch off: the stored ones, or all codes if those are not known. */
function listStoredCodes(candidates: Json[], classCode: string): Json[] {
  const stored = candidates
    .flatMap((value) => (isObject(value) ? [getOwn(value, 'code')] : []))
    .flat()
  const known = stored.filter((code): code is string => typeof code === 'string')
  return known.length > 0 ? [...new Set(known)].toSorted() : [...codes, classCode]
}
