import { nameChange } from '../../core/model/change.ts'
import { setItem } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { RecordedState, StateWriter } from '../../state/store/store.ts'

/**
 * Records that the fields which stay are given up, except those of items that the plan changes: the
 * outcome of a write records them. Changes `recorded`, too.
 */
export async function giveUp(
  { stays = [], changes }: Plan,
  recorded: RecordedState,
  store: Pick<StateWriter, 'save'>,
): Promise<void> {
  const changed = new Set(changes.map(nameChange))
  const touched: RecordedState = new Map()
  for (const { domain, item, field } of stays) {
    const state = (touched.get(domain) ?? recorded.get(domain))?.get(item)
    if (state === undefined || changed.has(nameChange({ domain, item }))) continue
    const writtenFields = state.writtenFields?.filter((name) => name !== field) ?? []
    setItem(touched, domain, item, { ...state, writtenFields }, recorded.get(domain))
  }
  if (touched.size === 0) return
  await store.save(touched, `Give up fields of ${touched.size} domains`)
  for (const [domain, items] of touched) recorded.set(domain, items)
}
