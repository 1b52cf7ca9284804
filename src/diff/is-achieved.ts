import { getItemSpec } from '../catalog/catalogue.ts'
import { isSameAtService } from '../catalog/item-spec.ts'
import type { Change } from '../model/change.ts'
import type { Domain, ItemKey, ItemState } from '../model/item.ts'

/**
 * Returns whether state has the result of every change as confirmed, whoever made it. A value with
 * a secret that can't be compared is not known to be there.
 */
export function isAchieved(
  changes: Change[],
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>,
): boolean {
  return changes.every(({ domain, item, action, after }) => {
    const state = recorded.get(domain)?.get(item)
    if (action === 'release') return state === undefined
    if (after === null) return state === undefined || state.status === 'unset'
    const [value] = state?.candidates ?? []
    return (
      state?.status === 'confirmed' &&
      value !== undefined &&
      isSameAtService(getItemSpec(item), value, after)
    )
  })
}
