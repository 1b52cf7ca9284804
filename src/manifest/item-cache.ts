import type { ItemSpec } from '../catalog/item-spec.ts'
import { parseItem, type ParsedItem } from '../catalog/parse-item.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** Items read before, by the value's identity: the manifests of one profile share its values. */
export type ItemCache = Map<ItemKey, WeakMap<JsonObject | Json[], ParsedItem>>

/**
 * Reads an item of a manifest, and a value that several domains share only once. An item whose
 * check depends on the domain is read for each of them.
 */
export function parseItemCached(
  spec: ItemSpec,
  value: Json,
  domain: Domain,
  // Filled here; of one run.
  shared: ItemCache,
): ParsedItem {
  const shareable = typeof value === 'object' && value !== null && !spec.dependsOnDomain
  if (!shareable) return parseItem(spec, value, 'manifest', domain)
  const reads = shared.get(spec.key) ?? new WeakMap<JsonObject | Json[], ParsedItem>()
  shared.set(spec.key, reads)
  const read = reads.get(value) ?? parseItem(spec, value, 'manifest', domain)
  reads.set(value, read)
  return read
}
