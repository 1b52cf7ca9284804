import { catalogue } from '../catalog/catalogue.ts'
import { append } from '../model/append.ts'
import { isKnownUnchanged } from '../model/known-items.ts'
import type { Domain, ItemKey, ItemState, Snapshot } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import { pluralize } from '../model/words.ts'

type Items = ReadonlyMap<ItemKey, ItemState>

const keepingSpecs = [...catalogue.values()].filter(({ keptFields }) => keptFields.length > 0)

/**
 * Lists the recorded fields that desired items do not have and the service keeps, as `item.field`.
 */
export function listKeptFields(recorded: Items | undefined, desired: Items): string[] {
  return keepingSpecs.flatMap(({ key, keptFields }) => {
    const [before, after] = [recorded?.get(key), desired.get(key)]
    if (before?.status !== 'confirmed' || after?.status !== 'confirmed') return []
    const [[from = null], [to = null]] = [before.candidates, after.candidates]
    return isObject(from) && isObject(to)
      ? keptFields.flatMap((field) =>
          Object.hasOwn(from, field) && !Object.hasOwn(to, field) ? [`${key}.${field}`] : [],
        )
      : []
  })
}

/** Describes the recorded fields that manifests do not have: a sentence for each, with domains. */
export function describeKeptFields(recorded: Snapshot, desired: Snapshot): string[] {
  const domainsByField: Record<string, Domain[]> = {}
  for (const [domain, items] of desired) {
    if (isKnownUnchanged(recorded.get(domain), items)) continue
    for (const field of listKeptFields(recorded.get(domain), items))
      append((domainsByField[field] ??= []), [domain])
  }
  return Object.entries(domainsByField).map(([field, domains]) => {
    const [first = ''] = domains.toSorted()
    const where =
      domains.length === 1 ? first : `${pluralize(domains.length, 'domain')}, e.g. ${first}`
    return `${field} is recorded, but in no manifest: the service leaves it unchanged (${where})`
  })
}
