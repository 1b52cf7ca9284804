import { isObject, getOwn } from '../../model/json.ts'
import type { ItemRow } from '../item-spec.ts'

/** Referer anti-leech; an emptied list clears it (specification, "referer"). */
export const referer: ItemRow = {
  group: 'combined',
  unset: (state) => {
    const last = state.candidates.at(-1)
    const type = last !== undefined && isObject(last) ? getOwn(last, 'type') : undefined
    return { type: type ?? 1, list: [], allow_empty: true }
  },
}
