import type { ItemSpec } from '../catalog/item-spec.ts'
import { parseItem, type ParsedItem } from '../catalog/parse-item.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** Parsed items by the identity of their value: manifests with the same profiles share values. */
export type ItemCache = Map<ItemKey, WeakMap<JsonObject | Json[], ParsedItem>>

/**
 * Parses an item of a manifest; a value that several domains share is parsed once. An item whose
 * check depends on the domain is parsed for each domain.
 *
 * @param cache of one run; filled here
 */
export function parseItemCached(
  spec: ItemSpec,
  value: Json,
  domain: Domain,
  cache: ItemCache,
): ParsedItem {
  const shareable = typeof value === 'object' && value !== null && !spec.dependsOnDomain
  if (!shareable) return parseItem(spec, value, 'manifest', domain)
  const parsedByValue = cache.get(spec.key) ?? new WeakMap<JsonObject | Json[], ParsedItem>()
  cache.set(spec.key, parsedByValue)
  const parsed = parsedByValue.get(value) ?? parseItem(spec, value, 'manifest', domain)
  parsedByValue.set(value, parsed)
  return parsed
}
