import type { ItemKey } from '../model/item.ts'
import { findNamesake, getWireName, type ItemKeys } from './wire-names.ts'

/** A conflict between two items of one domain, reported at `item`. */
export interface Conflict {
  item: ItemKey
  other: ItemKey
  severity: 'error' | 'warning'
  detail: string
}

/** Items of a domain. */
type ItemSet = Pick<ReadonlySet<ItemKey>, 'has'>

/** Pairs of items that exclude each other, or are rarely intended together. */
const pairs: Conflict[] = [
  {
    item: 'ip_white_list',
    other: 'ip_black_list',
    severity: 'error',
    detail:
      'the IP black list and white list exclude each other: setting one empties the other. ' +
      'Keep only one of them.',
  },
  {
    item: 'origin',
    other: 'new_origin',
    severity: 'warning',
    detail: 'new_origin takes precedence over origin where they conflict',
  },
  {
    item: 'origin_host',
    other: 'new_origin',
    severity: 'warning',
    detail:
      'new_origin takes precedence over origin_host, which applies only where new_origin ' +
      'sets no host',
  },
  {
    item: 'new_origin',
    other: 'extend',
    severity: 'warning',
    detail: 'extend takes precedence over new_origin where they conflict',
  },
  {
    item: 'cache_rule',
    other: 'cache_rule_list',
    severity: 'warning',
    detail:
      'cache_rule is the older form of cache_rule_list; which of the two takes precedence ' +
      'is not documented. Use only one of them.',
  },
]

/** Finds the items that an item excludes, or is rarely intended with. */
export function findExclusions(key: ItemKey): Omit<Conflict, 'item'>[] {
  return pairs.flatMap(({ item, other, severity, detail }) =>
    item === key || other === key ? [{ other: item === key ? other : item, severity, detail }] : [],
  )
}

/**
 * Finds conflicts between the items of one domain (specification, rules of "new_origin",
 * "ip_black_list and ip_white_list", "Versioning").
 */
export function findConflicts(items: ItemSet, itemKeys: ItemKeys = {}): Conflict[] {
  return [
    ...pairs.filter(({ item, other }) => items.has(item) && items.has(other)),
    ...findNameConflicts(items, itemKeys),
  ]
}

function findNameConflicts(items: ItemSet, itemKeys: ItemKeys): Conflict[] {
  const [item, other] = ['error_bcache', 'cache_error_code']
  if (!items.has(item) || findNamesake(item, itemKeys) !== other || !items.has(other)) return []
  const detail =
    `${item} and ${other} have the same name at the service, ` +
    `"${getWireName(item, itemKeys)}" (service.itemKeys in edgewise.yaml), so that the service ` +
    'has only one of them. Keep only one of them.'
  return [{ item, other, severity: 'error', detail }]
}
