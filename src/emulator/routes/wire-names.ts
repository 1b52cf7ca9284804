import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import {
  findItemByWireName,
  findWireNameProblems,
  getWireName,
  listClearedItems,
  type ItemKeys,
} from '../../core/catalog/wire-names.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { ItemKey } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'

/** Names of items on the wire: their own, and those of `itemKeys`. */
export interface WireNames {
  list(): string[]
  /** Returns the item of a name; of two with the same name, the one of the payload's shape. */
  find(name: string, payload: Json): ItemSpec | undefined
  /** Lists all items that a name can mean; none for an unknown one. */
  findAll(name: string): ItemKey[]
  /** Returns the name under which an item is answered. */
  getName(item: ItemKey): string
  /** Lists the items that a write of an item empties. */
  listCleared(item: ItemKey): ItemKey[]
}

/**
 * Builds the names of items on the wire.
 *
 * @throws EdgewiseError `usage` if a name would belong to no item or to two
 */
export function buildWireNames(itemKeys: ItemKeys): WireNames {
  const [problem] = findWireNameProblems(itemKeys)
  if (problem !== undefined)
    throw new EdgewiseError('usage', `itemKeys.${problem.item}: ${problem.detail}`)
  return {
    list: () => [...catalogue.keys(), ...Object.values(itemKeys)],
    find: (name, payload) => {
      const item = findItemByWireName(name, payload, itemKeys)
      return item === undefined ? undefined : getItemSpec(item)
    },
    findAll: (name) =>
      [...catalogue.keys()].filter((item) => item === name || getWireName(item, itemKeys) === name),
    getName: (item) => getWireName(item, itemKeys),
    listCleared: (item) => listClearedItems(item, itemKeys),
  }
}
