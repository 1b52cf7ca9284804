import { getOrAdd } from '../model/lists.ts'
import { catalogue } from '../catalog/catalogue.ts'
import { fillKeptFields, pickKeptFields } from '../catalog/item-spec.ts'
import { createItemState, type ItemState, type Snapshot } from '../model/item.ts'
import type { JsonObject } from '../model/json.ts'
import type { Stay } from '../model/plan.ts'

const keepingSpecs = [...catalogue.values()].filter(({ keptFields }) => keptFields.length > 0)

/** Lists the fields that an apply wrote and manifests dropped: the service keeps their values. */
export function listStays(recorded: Snapshot, desired: Snapshot): Stay[] {
  return [...desired.keys()].toSorted().flatMap((domain) =>
    keepingSpecs.flatMap(({ key: item }) => {
      const { writtenFields = [], candidates = [] } = recorded.get(domain)?.get(item) ?? {}
      const [value] = desired.get(domain)?.get(item)?.candidates ?? []
      const kept = candidates.map((each) => pickKeptFields(writtenFields, value, each))
      const known: JsonObject = Object.assign({}, ...kept.toReversed())
      return Object.entries(known).map(([field, each]) => ({ domain, item, field, value: each }))
    }),
  )
}

/** Adds to desired items the recorded fields that the service keeps: what it has after an apply. */
export function addKeptFields(desired: Snapshot, recorded: Snapshot): Snapshot {
  const all = new Map(desired)
  // Domains with the same value share its state.
  const states = new Map<string, ItemState>()
  for (const [domain, items] of desired)
    for (const { key, keptFields } of keepingSpecs) {
      const before = recorded.get(domain)?.get(key)
      const [value] = items.get(key)?.candidates ?? []
      if (before?.status !== 'confirmed' || value === undefined) continue
      const live = fillKeptFields(keptFields, value, before.candidates[0])
      if (live === value) continue
      const state = getOrAdd(states, JSON.stringify(live), () => createItemState(live))
      all.set(domain, new Map(all.get(domain)).set(key, state))
    }
  return all
}
