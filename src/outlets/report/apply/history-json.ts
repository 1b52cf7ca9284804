import type { Act, HistoryEntry, PastApply } from '../../../core/model/applied.ts'
import type { Domain } from '../../../core/model/item.ts'

/** Applies, first to last: all of them, or those of one domain with its changes. */
interface ListedHistory {
  applies: HistoryEntry[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
  acts: Act[]
  findings: object[]
  domain: {
    domain: Domain
    applies: PastApply[]
    pruned: number
  } | null
}

/** Builds the JSON of a history, `edgewise.history/1`, the latest apply first. */
export function buildHistoryJson({
  applies,
  acts,
  dropped,
  domain,
  findings,
}: ListedHistory): object {
  const format = 'edgewise.history/1'
  const wrong = { findings: findings.length === 0 ? undefined : findings }
  if (domain === null)
    return {
      format,
      applies: applies.toReversed(),
      acts: acts.length === 0 ? undefined : acts.toReversed(),
      dropped: dropped || undefined,
      ...wrong,
    }
  return {
    format,
    domain: domain.domain,
    applies: domain.applies
      .toReversed()
      .map(({ items, ...apply }) => ({ ...apply, items: Object.fromEntries(items) })),
    pruned: domain.pruned || undefined,
    ...wrong,
  }
}
