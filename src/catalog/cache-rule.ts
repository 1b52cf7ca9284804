import type { CacheRule } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import { castAccepted } from './cast-accepted.ts'
import { checkCacheTime } from './cache-time.ts'
import type { ItemRow } from './item-spec.ts'
import { overwritingList } from './overwriting-list.ts'

/** The older form of cache rules; order is priority (specification, "cache_rule"). */
export const cacheRule: ItemRow = {
  ...overwritingList,
  group: 'combined',
  check: (value: Json) =>
    castAccepted<CacheRule>(value).flatMap((rule, i) =>
      checkCacheTime(`/${i}/time`, rule.time, rule.timeunit ?? 's'),
    ),
}
