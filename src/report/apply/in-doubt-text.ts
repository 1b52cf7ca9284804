import type { Domain, ItemKey } from '../../model/item.ts'
import { groupBy } from '../../model/group-by.ts'
import { listSome } from '../../model/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/**
 * Formats in-doubt items, each with its first domains: `timeout of a, b, c and 4 more`. Null if
 * there are none.
 */
export function formatInDoubt(
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, { status: string }>>,
): string | null {
  const pairs = [...recorded].flatMap(([domain, items]) =>
    [...items].flatMap(([item, { status }]) => (status === 'in-doubt' ? [{ domain, item }] : [])),
  )
  const texts = Array.from(
    groupBy(pairs, ({ item }) => item),
    ([item, some]) => {
      const domains = some.map(({ domain }) => escapeInvisible(domain)).toSorted()
      return `${escapeInvisible(item)} of ${listSome(domains)}`
    },
  )
  return texts.length === 0 ? null : texts.toSorted().join('; ')
}
