import type { Change, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem, Wave } from '../state/store.ts'
import { withIntents, type Recording } from './record-outcome.ts'

/**
 * Builds the intents of a batch: each item that it writes, clears or releases, with its current
 * state and its possible state until the outcome is recorded.
 *
 * @param landWithinMs timeout plus settle time of its calls
 * @param possible state with the intents of earlier batches; those of this batch are added to it
 */
export function buildWave(
  number: number,
  writes: Write[],
  releases: Change[],
  recorded: RecordedState,
  recording: Recording,
  landWithinMs: number,
  possible: RecordedState = new Map(recorded),
): Wave {
  const before = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
  const keepBefore = (domain: Domain, item: ItemKey) => {
    const items = before.get(domain) ?? new Map<ItemKey, RecordedItem | null>()
    items.set(item, recorded.get(domain)?.get(item) ?? null)
    before.set(domain, items)
  }
  const intents = new Map<number, RecordedState>()
  for (const write of writes) {
    const domains: RecordedState = new Map()
    for (const domain of write.domains) {
      const items = possible.get(domain) ?? new Map<ItemKey, RecordedItem>()
      const after = withIntents(items, write.items, recording)
      possible.set(domain, after)
      const changing = [...after].filter(([item, state]) => items.get(item) !== state)
      for (const [item] of changing) keepBefore(domain, item)
      domains.set(domain, new Map(changing))
    }
    intents.set(write.id, domains)
  }
  for (const { domain, item } of releases) keepBefore(domain, item)
  return { number, before, intents, landWithinMs }
}

/** Removes items from state; returns the domains with their remaining items. */
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
