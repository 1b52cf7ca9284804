import type { ItemKey } from '../../model/item.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'

/** Fields with a unit, which clients also send in lower case. */
const units: ReadonlyMap<ItemKey, string[]> = new Map([
  ['compress_response', ['min_size_unit']],
  ['rate_limit', ['max_rate_unit', 'leading_flow_unit']],
  ['smart_compression', ['gzip_compression_unit', 'brotli_compression_unit']],
])

/** Value of `match_method` in `cache_rule_list` that only clients know. */
const anyMethod = 'all'

/**
 * Converts what clients send beyond the specification to what it allows: units in lower case, and
 * cache rules that match all, which become regular expressions. Returns anything else as it is.
 */
export function tolerate(item: ItemKey, value: Json): Json {
  if (item === 'cache_rule_list')
    return mapRules(value, (rule) =>
      rule['match_method'] === anyMethod ? { ...rule, match_method: 'regex' } : rule,
    )
  const names = units.get(item)
  if (names === undefined || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      names.includes(name) && (field === 'kb' || field === 'mb') ? field.toUpperCase() : field,
    ]),
  )
}

/** Restores in a payload what has no equal in the specification: rules that match all. */
export function restoreTolerated(item: ItemKey, sent: Json, payload: Json): Json {
  if (item !== 'cache_rule_list' || !Array.isArray(sent)) return payload
  return mapRules(payload, (rule, i) => {
    const before = sent[i]
    return before !== undefined && isObject(before) && before['match_method'] === anyMethod
      ? { ...rule, match_method: anyMethod }
      : rule
  })
}

function mapRules(value: Json, map: (rule: JsonObject, i: number) => JsonObject): Json {
  return Array.isArray(value)
    ? value.map((rule, i) => (isObject(rule) ? map(rule, i) : rule))
    : value
}
