import type { Change } from '../../../core/model/change.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'
import { groupDomains, addUp } from '../../../core/model/lists.ts'
import { formatCount, listSome, pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

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
  const texts = groupDomains(pairs, ({ item }) => item).map(({ first, domains }) => {
    const names = domains.map(escapeInvisible).toSorted()
    return `${escapeInvisible(first.item)} of ${listSome(names)}`
  })
  return texts.length === 0 ? null : texts.toSorted().join('; ')
}

/** Item that can't be rolled back, and the reason. */
interface Irreversible {
  domain: Domain
  item: ItemKey
  reason: string
}

const maxLines = 20

/** Formats irreversible items: one entry for each item and reason. Ends without a line break. */
export function formatIrreversible(irreversible: Irreversible[], columns: number): string {
  const groups = groupDomains(irreversible, ({ item, reason }) => `${item} ${reason}`)
  const lines = groups.slice(0, maxLines).map(({ first, domains }) => {
    const what = `${first.item} of ${listSome(domains)}: ${first.reason}`
    return wrap(escapeInvisible(what), columns, '  ')
  })
  const rest = addUp(groups.slice(maxLines), ({ domains }) => domains.length)
  return [...lines, ...(rest === 0 ? [] : [`  … and ${formatCount(rest)} more items`])].join('\n')
}

/** Formats which conditional changes of a plan differ, now that their secrets are compared. */
export function formatComparison({
  differing,
  same,
}: {
  differing: Change[]
  same: Change[]
}): string {
  const all = differing.length + same.length
  if (differing.length === 0)
    return all === 1
      ? 'The compared secret is as recorded.'
      : `All ${formatCount(all)} secrets are as recorded.`
  const count = `${differing.length} of ${pluralize(all, 'compared secret')}`
  const names = listSome(differing.map(({ domain, item }) => `${item} of ${domain}`))
  return `${count} ${differing.length === 1 ? 'differs' : 'differ'}: ${names}.`
}
