import { catalogue, getItemSpec } from '../../catalog/catalogue.ts'
import type { ItemSpec } from '../../catalog/item-spec.ts'
import { findWireNameProblems, type ItemKeys } from '../../catalog/wire-names.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'

/** Items by wire name: their own, and those of `itemKeys`. */
export type WireNames = ReadonlyMap<string, ItemSpec>

/**
 * Builds the items by wire name.
 *
 * @throws EdgewiseError `usage` if a name would belong to no item or to two
 */
export function buildWireNames(itemKeys: ItemKeys): WireNames {
  const [problem] = findWireNameProblems(itemKeys)
  if (problem !== undefined)
    throw new EdgewiseError('usage', `itemKeys.${problem.item}: ${problem.detail}`)
  const names = new Map(catalogue)
  for (const [item, name] of Object.entries(itemKeys)) names.set(name, getItemSpec(item))
  return names
}
