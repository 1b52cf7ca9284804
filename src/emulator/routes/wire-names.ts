import { catalogue } from '../../catalog/catalogue.ts'
import type { ItemSpec } from '../../catalog/item-spec.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { ItemKey } from '../../model/item.ts'

/** Items by wire name: their own, and those of `itemKeys`. */
export type WireNames = ReadonlyMap<string, ItemSpec>

/**
 * Builds the items by wire name.
 *
 * @throws EdgewiseError `usage` if a name would belong to no item or to two
 */
export function buildWireNames(itemKeys: Record<ItemKey, string>): WireNames {
  const names = new Map(catalogue)
  for (const [item, name] of Object.entries(itemKeys)) {
    const spec = catalogue.get(item)
    if (spec === undefined)
      throw new EdgewiseError(
        'usage',
        `the wire name "${name}" is assigned to "${item}", which is not an item`,
        'Check the key in itemKeys.',
      )
    const owner = names.get(name)
    if (owner !== undefined && owner !== spec) {
      throw new EdgewiseError(
        'usage',
        `the wire name "${name}" of ${item} already belongs to ${owner.key}`,
        'Give each item a different name in itemKeys.',
      )
    }
    names.set(name, spec)
  }
  return names
}
