import { createConfirmedState, type ItemState } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { ItemHashes } from '../model/rollout.ts'
import { dropHolds } from '../rollout/holds.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { findAuthor } from './execute-plan.ts'
import { hashValue } from './hash-desired.ts'
import type { Outside } from './outside.ts'

/**
 * Puts the values that are rolled back on hold, so that no later apply sends them again by itself,
 * and lifts the holds of those that are restored. A rollout whose rollback is finished has put its
 * values on hold already.
 *
 * @param recorded state before the rollback
 * @param names ids of the rollback and of the rollout that it finishes; null: none
 */
export async function holdRolledBack(
  store: Store,
  recorded: RecordedState,
  { changes, references }: Plan,
  names: { id: string; rollout: string | null },
  outside: Outside,
): Promise<void> {
  const { id, rollout } = names
  const [onHold, restored]: [ItemHashes, ItemHashes] = [{}, {}]
  for (const { domain, item, after } of changes) {
    const templates = references?.get(domain)?.get(item)
    const goal: ItemState =
      after === null
        ? { status: 'unset', candidates: [] }
        : { ...createConfirmedState(after), templates }
    ;(onHold[domain] ??= {})[item] = hashValue(recorded.get(domain)?.get(item))
    ;(restored[domain] ??= {})[item] = hashValue(goal)
  }
  const rollouts = await store.listRollouts()
  const lifted = dropHolds(
    rollouts.filter(({ state }) => state !== 'taking-back'),
    (domain, item, value) => restored[domain]?.[item] === value,
  )
  for (const each of lifted)
    await store.saveRollout(each, `Rollout ${each.id}: a rollback restores its values`)
  const isFinishing = rollouts.some((each) => each.id === rollout && each.state === 'taking-back')
  if (isFinishing || changes.length === 0) return
  const startedAt = new Date(outside.clock.now()).toISOString()
  const author = findAuthor(outside)
  await store.saveRollout(
    {
      id,
      startedAt,
      commit: null,
      author,
      state: 'taken-back',
      reason: `rolled back by ${author}`,
      endedAt: startedAt,
      items: [],
      asked: {},
      values: {},
      onHold,
      waves: [],
      released: [],
      applies: [],
    },
    `Rollback ${id}: the values that it rolls back are on hold`,
  )
}
