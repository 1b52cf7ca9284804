import type { CacheRule } from '../generated/items.ts'
import type { Json } from '../../model/json.ts'
import { checkCacheTime } from '../cache-time.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { observeEntries } from '../observation.ts'

const switches = new Set(['ignore_no_cache', 'ignore_expired', 'ignore_query'])

/** The older form of cache rules; order is priority (specification, "cache_rule"). */
export const cacheRule: ItemRow = {
  ...overwritingList,
  identity: ['type', 'pattern'],
  group: 'combined',
  check: (value) =>
    castPlain<CacheRule>(value).flatMap((rule, i) =>
      checkCacheTime(`/${i}/time`, rule.time, rule.timeunit ?? 's'),
    ),
  /** A query shows switches as booleans. */
  observe: (_known, observed) =>
    observeEntries(observed, (rule) => {
      const fields = Object.entries(rule).map(([field, value]): [string, Json] => [
        field,
        switches.has(field) && typeof value === 'boolean' ? (value ? 'on' : 'off') : value,
      ])
      return { payload: Object.fromEntries(fields) }
    }),
}
