import { isObject, own } from '../model/json.ts'
import type { ItemRow } from './item-spec.ts'

/** Referer anti-leech; an emptied list clears it (specification, "referer"). */
export const referer: ItemRow = {
  group: 'combined',
  empty: (value) => isObject(value) && Array.isArray(value['list']) && value['list'].length === 0,
  unset: (held) => {
    const last = held.candidates.at(-1)
    const type = last !== undefined && isObject(last) ? own(last, 'type') : undefined
    return { type: type ?? 1, list: [], allow_empty: true }
  },
}
