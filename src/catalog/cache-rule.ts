import type { CacheRule } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import { accepted } from './cast-accepted.ts'
import { cacheTimeProblems } from './cache-time.ts'
import type { ItemRow } from './item-spec.ts'
import { overwritingList } from './overwriting-list.ts'

/** The older form of cache rules; order is priority (specification, "cache_rule"). */
export const cacheRule: ItemRow = {
  ...overwritingList,
  group: 'combined',
  check: (value: Json) =>
    accepted<CacheRule>(value).flatMap((rule, i) =>
      cacheTimeProblems(`/${i}/time`, rule.time, rule.timeunit ?? 's'),
    ),
}
