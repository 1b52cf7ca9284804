import type { Domain, ItemKey } from '../model/item.ts'
import type { Applied } from '../model/applied.ts'
import type { RecordedState, RecordedItem, Store } from '../state/store.ts'
import { findApplies } from './find-applies.ts'

/** What was recorded of a domain when an apply had ended. */
export interface PastState {
  /** The apply; of a rollout, its last wave. */
  apply: Applied
  items: Map<ItemKey, RecordedItem>
  /**
   * Items that something else than an apply (an import, a repair's look) recorded since: what was
   * there before it is not kept.
   */
  notKnown: ItemKey[]
}

/**
 * What was recorded of a domain at the end of an apply, found by going back from now through what
 * each later apply says was recorded before it. What was imported or forgotten is in no apply's
 * journal: items that were imported since are named as not known, items that were forgotten since
 * are missing.
 *
 * @param name id of an apply, or of a rollout for the end of its last wave
 * @throws EdgewiseError `usage` when there is no such apply
 */
export async function reconstructState(
  store: Store,
  recorded: RecordedState,
  domain: Domain,
  name: string,
): Promise<PastState> {
  const history = await store.listApplies()
  const apply = findApplies(history, name).at(-1)
  if (apply === undefined) throw new TypeError('expected at least one apply')
  const place = history.findIndex(({ id }) => id === apply.id)
  const items = new Map(recorded.get(domain))
  for (const { id } of history.slice(place + 1).toReversed()) {
    for (const [item, before] of (await store.loadStateBefore(id)).get(domain) ?? []) {
      if (before === null) items.delete(item)
      else items.set(item, before)
    }
  }
  const until = new Set(history.slice(0, place + 1).map(({ id }) => id))
  const end = Date.parse(apply.endedAt ?? history[place + 1]?.startedAt ?? apply.startedAt)
  const notKnown = [...items]
    .filter(([, held]) => !until.has(held.apply) && Date.parse(held.at) > end)
    .map(([item]) => item)
  for (const item of notKnown) items.delete(item)
  return { apply, items, notKnown: notKnown.toSorted() }
}
