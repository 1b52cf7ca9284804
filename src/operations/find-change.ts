import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Applied } from '../model/applied.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { computeRollback } from '../plan/compute-rollback.ts'
import type { RecordedState, RecordedItem, Store, Wave } from '../state/store.ts'
import { groupApplies } from './find-applies.ts'

/** What ends the id of a rollback, so that a history tells it from other applies. */
export const rollbackSuffix = 'rollback'

/** Of all that some applies were about to change: what was recorded before; null for nothing. */
export type PriorState = Wave['before']

/** What is searched for a change, and how far one can be taken back. */
export interface Search {
  store: Store
  recorded: RecordedState
  createSecretCheck(before: PriorState): (secret: string) => boolean
}

/**
 * Some applies, and what was recorded before the first of them of all that they were about to
 * change.
 */
export interface FoundChange {
  applies: Applied[]
  before: PriorState
}

/** What applies changed that belong together: one apply, or the waves of one rollout. */
export async function loadChange(applies: Applied[], store: Store): Promise<FoundChange> {
  const before = new Map<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>()
  for (const { id } of applies) {
    // What an earlier wave had changed already was something else before the rollout.
    for (const [domain, items] of await store.loadStateBefore(id))
      before.set(domain, new Map([...items, ...(before.get(domain) ?? [])]))
  }
  return { applies, before }
}

/**
 * The last apply, or rollout, of which anything differs from what was recorded before it.
 *
 * @throws EdgewiseError `usage` when there is none, or when it was a rollback itself
 */
export async function findLastChange(history: Applied[], search: Search): Promise<FoundChange> {
  for (const applies of groupApplies(history).toReversed()) {
    const found = await loadChange(applies, search.store)
    const way = computeRollback(
      search.recorded,
      found.before,
      search.createSecretCheck(found.before),
    )
    if (way.to.size + way.irreversible.length === 0) continue
    const [{ id } = { id: '' }] = applies
    if (!new RegExp(`-${rollbackSuffix}(-w\\d+)?$`).test(id)) return found
    throw new EdgewiseError(
      'usage',
      `the last apply, ${id}, was a rollback itself`,
      `Name the apply to take back; "edgewise state history" lists them. "edgewise rollback ${id}" brings back what it took back.`,
    )
  }
  throw new EdgewiseError(
    'usage',
    history.length === 0
      ? 'nothing was applied yet, so there is nothing to take back'
      : 'everything is as it was before each apply, so there is nothing to take back',
    '"edgewise state history" lists the applies.',
  )
}
