import type { AddBackSourceHead } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import { castAccepted } from './cast-accepted.ts'
import { findRepeatedNames } from './header-names.ts'
import type { ItemRow } from './item-spec.ts'
import { overwritingList } from './overwriting-list.ts'

/** Headers of origin requests (specification, "add_back_source_head"). */
export const addBackSourceHead: ItemRow = {
  ...overwritingList,
  identity: ['head_name'],
  check: (value: Json) =>
    findRepeatedNames(
      castAccepted<AddBackSourceHead>(value).map((header) => header.head_name),
      (i) => `/${i}/head_name`,
    ),
}
