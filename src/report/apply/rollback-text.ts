import { groupBy } from '../../model/group-by.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import { listSome } from '../../model/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

/** Item that can't be rolled back, and the reason. */
interface Irreversible {
  domain: Domain
  item: ItemKey
  reason: string
}

const maxLines = 20

/** Formats irreversible items: one entry for each item and reason. Ends without a line break. */
export function formatIrreversible(irreversible: Irreversible[], columns: number): string {
  const groups = [...groupBy(irreversible, ({ item, reason }) => `${item} ${reason}`).values()]
  const lines = groups.slice(0, maxLines).flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    return [
      wrap(
        `${escapeInvisible(first.item)} of ` +
          `${listSome(same.map(({ domain }) => escapeInvisible(domain)))}: ` +
          escapeInvisible(first.reason),
        columns,
        '  ',
      ),
    ]
  })
  const rest = groups.slice(maxLines).reduce((sum, same) => sum + same.length, 0)
  return [...lines, ...(rest === 0 ? [] : [`  … and ${rest} more items`])].join('\n')
}
