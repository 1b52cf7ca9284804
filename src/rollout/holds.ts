import type { Domain, ItemKey } from '../model/item.ts'
import type { ItemHashes, Rollout } from '../model/rollout.ts'

/**
 * Drops values on hold; returns the rollouts that change by that, also those with nothing on hold
 * any more.
 */
export function dropHolds(
  rollouts: Rollout[],
  isDropped: (domain: Domain, item: ItemKey, value: string) => boolean,
): Rollout[] {
  return rollouts.flatMap((rollout) => {
    const onHold: ItemHashes = {}
    let isChanged = false
    for (const [domain, values] of Object.entries(rollout.onHold)) {
      const kept = Object.entries(values).filter(([item, value]) => !isDropped(domain, item, value))
      isChanged ||= kept.length < Object.keys(values).length
      if (kept.length > 0) onHold[domain] = Object.fromEntries(kept)
    }
    return isChanged ? [{ ...rollout, onHold }] : []
  })
}

/** Tests whether nothing is on hold. */
export function isEmpty(onHold: ItemHashes): boolean {
  return Object.keys(onHold).length === 0
}
