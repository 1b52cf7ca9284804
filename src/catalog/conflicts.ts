import type { ItemKey } from '../model/item.ts'

/** A problem between items of one domain; it stands at `item`. */
export interface Conflict {
  item: ItemKey
  other: ItemKey
  severity: 'error' | 'warning'
  detail: string
}

/** Pairs that can't, or hardly can, be meant together; the first is where the problem is shown. */
const pairs: Conflict[] = [
  {
    item: 'ip_white_list',
    other: 'ip_black_list',
    severity: 'error',
    detail:
      'the IP black list and white list exclude each other: setting one empties the other. Keep one of them; the other is emptied with it.',
  },
  {
    item: 'origin',
    other: 'new_origin',
    severity: 'warning',
    detail: 'new_origin has priority over origin where they disagree',
  },
  {
    item: 'origin_host',
    other: 'new_origin',
    severity: 'warning',
    detail:
      'new_origin has priority over origin_host; origin_host counts only where new_origin names no host',
  },
  {
    item: 'new_origin',
    other: 'extend',
    severity: 'warning',
    detail: 'extend has priority over new_origin where they disagree',
  },
  {
    item: 'cache_rule',
    other: 'cache_rule_list',
    severity: 'warning',
    detail:
      'cache_rule is the older form of cache_rule_list; which of the two wins is not documented. Use one of them.',
  },
]

/**
 * What the items of one domain say against each other (specification, rules of "new_origin",
 * "ip_black_list and ip_white_list", "Versioning").
 */
export function findConflicts(items: ReadonlySet<ItemKey>): Conflict[] {
  return pairs.filter(({ item, other }) => items.has(item) && items.has(other))
}
