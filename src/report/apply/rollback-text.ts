import { groupBy } from '../../model/group-by.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import { listSome } from '../../model/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

/** An item that stays as it is, and why. */
interface Irreversible {
  domain: Domain
  item: ItemKey
  reason: string
}

const mostLines = 20

/**
 * What can't be taken back: a line for each item and reason, whatever the number of domains. Ends
 * without a line break.
 */
export function formatIrreversible(irreversible: Irreversible[], columns: number): string {
  const groups = [...groupBy(irreversible, ({ item, reason }) => `${item} ${reason}`).values()]
  const lines = groups.slice(0, mostLines).flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    return [
      wrap(
        `${escapeInvisible(first.item)} of ${listSome(same.map(({ domain }) => escapeInvisible(domain)))}: ${escapeInvisible(first.reason)}`,
        columns,
        '  ',
      ),
    ]
  })
  const rest = groups.slice(mostLines).reduce((sum, same) => sum + same.length, 0)
  return [...lines, ...(rest === 0 ? [] : [`  … and ${rest} more items`])].join('\n')
}
