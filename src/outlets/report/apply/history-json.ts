import type { Applied, HistoryEntry, PastChange } from '../../../core/model/applied.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'

/** Applies, first to last: all of them, or those of one domain with its changes. */
interface ListedHistory {
  applies: HistoryEntry[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
  domain: {
    domain: Domain
    applies: (Applied & { items: ReadonlyMap<ItemKey, PastChange> })[]
    pruned: number
  } | null
}

/** Builds the JSON of a history, `edgewise.history/1`, the latest apply first. */
export function buildHistoryJson({ applies, dropped, domain }: ListedHistory): object {
  const format = 'edgewise.history/1'
  if (domain === null)
    return { format, applies: applies.toReversed(), ...(dropped === 0 ? {} : { dropped }) }
  return {
    format,
    domain: domain.domain,
    applies: domain.applies
      .toReversed()
      .map(({ items, ...apply }) => ({ ...apply, items: Object.fromEntries(items) })),
    ...(domain.pruned === 0 ? {} : { pruned: domain.pruned }),
  }
}
