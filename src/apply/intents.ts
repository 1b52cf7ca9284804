import type { Change, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem, Wave } from '../state/store.ts'
import { withIntents, type Recording } from './record-outcome.ts'

/**
 * What a wave is about to do: each item that it writes, empties or releases, as it is and as it may
 * be while it runs.
 */
export function buildWave(
  number: number,
  writes: Write[],
  releases: Change[],
  recorded: RecordedState,
  recording: Recording,
): Wave {
  const before = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
  const remember = (domain: Domain, item: ItemKey) => {
    const items = before.get(domain) ?? new Map<ItemKey, RecordedItem | null>()
    items.set(item, recorded.get(domain)?.get(item) ?? null)
    before.set(domain, items)
  }
  const intents = new Map<number, RecordedState>()
  // A later delta of the same item starts from all that an earlier one may have left.
  const now = new Map(recorded)
  for (const write of writes) {
    const domains: RecordedState = new Map()
    for (const domain of write.domains) {
      const items = now.get(domain) ?? new Map<ItemKey, RecordedItem>()
      const after = withIntents(items, write.items, recording)
      now.set(domain, after)
      const changing = [...after].filter(([item, held]) => items.get(item) !== held)
      for (const [item] of changing) remember(domain, item)
      domains.set(domain, new Map(changing))
    }
    intents.set(write.id, domains)
  }
  for (const { domain, item } of releases) remember(domain, item)
  return { number, before, intents }
}

/** The domains of items that leave the record, with what stays of them. */
export function removeItems(
  leaving: { domain: Domain; item: ItemKey }[],
  recorded: RecordedState,
): RecordedState {
  const touched: RecordedState = new Map()
  for (const { domain, item } of leaving) {
    const items = touched.get(domain) ?? new Map(recorded.get(domain))
    items.delete(item)
    touched.set(domain, items)
  }
  return touched
}
