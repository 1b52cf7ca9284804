import type { AddBackSourceHead } from '../generated/items.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { findRepeatedNames } from '../problems.ts'

/** Headers of origin requests (specification, "add_back_source_head"). */
export const addBackSourceHead: ItemRow = {
  ...overwritingList,
  identity: ['head_name'],
  check: (value) =>
    findRepeatedNames(
      castPlain<AddBackSourceHead>(value).map((header) => header.head_name),
      (i) => `/${i}/head_name`,
    ),
}
