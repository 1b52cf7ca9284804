import { isObject, getOwn, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { checkCacheTime } from '../cache-time.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { warn, describeMissingField } from '../problems.ts'

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
  check: (value) => {
    const caching = castPlain<ErrorCaching>(value)
    const tooLong = checkTime(caching).map(({ pointer, detail }) => warn(pointer, detail))
    return [...checkRequired(caching), ...tooLong]
  },
  unset: (state) => ({ code: listStoredCodes(state.candidates, '5XX'), bcache: 'off' }),
}

/**
 * Caching of error responses, the item without a documented wire name (specification, "error-status
 * caching with bcache").
 */
export const errorBcache: ItemRow = {
  check: (value) => {
    const caching = castPlain<ErrorCaching>(value)
    return [...checkRequired(caching), ...checkTime(caching)]
  },
  unset: (state) => ({ code: listStoredCodes(state.candidates, '5xx'), bcache: 'off' }),
}

function checkTime({ cache_time: time = 0, cache_unit: unit = 'second' }: ErrorCaching): Problem[] {
  return checkCacheTime('/cache_time', Number(time), unit)
}

function checkRequired(caching: ErrorCaching): Problem[] {
  if (caching.bcache !== 'on') return []
  const missing = (['cache_time', 'cache_unit'] as const).filter(
    (field) => caching[field] === undefined,
  )
  const required = 'with bcache "on" the field'
  return missing.map((field) => describeMissingField('', `${required} "${field}" is required`))
}

/** Lists the codes to switch off: the stored ones, or all codes if those are not known. */
function listStoredCodes(candidates: Json[], classCode: string): Json[] {
  const stored = candidates
    .flatMap((value) => (isObject(value) ? [getOwn(value, 'code')] : []))
    .flat()
  const storedCodes = stored.filter((code): code is string => typeof code === 'string')
  return storedCodes.length > 0 ? [...new Set(storedCodes)].toSorted() : [...codes, classCode]
}
