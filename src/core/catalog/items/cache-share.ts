import type { CacheShare } from '../generated/items.ts'
import { isObject } from '../../model/json.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { fillHidden } from '../observation.ts'
import { describeMissingField } from '../problems.ts'

/** Sharing of the cache between schemes and domains (specification, "cache_share"). */
export const cacheShare: ItemRow = {
  check: (value) => {
    const { share_way, domain } = castPlain<CacheShare>(value)
    if (share_way === 'inner_share' || domain !== undefined) return []
    return [
      describeMissingField('', `with share_way "${share_way}" the field "domain" is required`),
    ]
  },
  /** A query shows no `domain` for `inner_share`, where it has no effect. */
  observe: (known, observed) =>
    isObject(observed) && observed['share_way'] === 'inner_share'
      ? fillHidden(known, observed, ['domain'])
      : { payload: observed },
}
