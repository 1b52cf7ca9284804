import { catalogue } from '../../catalog/catalogue.ts'
import type { ItemSpec } from '../../catalog/item-spec.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { ItemKey } from '../../model/item.ts'

/** Item by every wire name that is understood: its own, and what `itemKeys` adds. */
export type WireNames = ReadonlyMap<string, ItemSpec>

/** @throws EdgewiseError `usage` where a name would be no item's or two items'. */
export function buildWireNames(itemKeys: Record<ItemKey, string>): WireNames {
  const names = new Map(catalogue)
  for (const [item, name] of Object.entries(itemKeys)) {
    const spec = catalogue.get(item)
    if (spec === undefined)
      throw new EdgewiseError(
        'usage',
        `the wire name "${name}" is given to "${item}", which is no item`,
        'Check the key in itemKeys.',
      )
    const taken = names.get(name)
    if (taken !== undefined && taken !== spec) {
      throw new EdgewiseError(
        'usage',
        `the wire name "${name}" of ${item} already belongs to ${taken.key}`,
        'Give each item a name of its own in itemKeys.',
      )
    }
    names.set(name, spec)
  }
  return names
}
