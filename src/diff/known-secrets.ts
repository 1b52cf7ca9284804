import { getItemSpec } from '../catalog/catalogue.ts'
import type { ItemState, Snapshot } from '../model/item.ts'
import { isUnresolved, mapSecrets } from '../model/secret.ts'

/**
 * Desired items with every secret whose value is not at hand replaced by the recorded fingerprint,
 * where the record has one for the same references: an unresolved secret counts as unchanged while
 * its name is the recorded one. What was replaced stands in `templates`, so that the value can be
 * had when it is needed.
 */
export function replaceKnownSecrets(desired: Snapshot, recorded: Snapshot): Snapshot {
  const result: Snapshot = new Map()
  for (const [domain, items] of desired) {
    const before = recorded.get(domain)
    result.set(
      domain,
      new Map(
        [...items].map(([item, held]) => [
          item,
          before === undefined ? held : knownHeld(item, held, before.get(item)),
        ]),
      ),
    )
  }
  return result
}

function knownHeld(item: string, desired: ItemState, recorded: ItemState | undefined): ItemState {
  const templates = Object.entries(recorded?.templates ?? {})
  if (templates.length === 0) return desired
  const replaced: Record<string, string> = {}
  const candidates = desired.candidates.map((value) =>
    mapSecrets(value, (secret) => {
      const known = isUnresolved({ $secret: secret })
        ? templates.find(([, template]) => `unresolved:${template}` === secret)
        : undefined
      if (known === undefined) return { $secret: secret }
      replaced[known[0]] = known[1]
      return { $secret: known[0] }
    }),
  )
  if (Object.keys(replaced).length === 0) return desired
  const values = candidates.map((value) => getItemSpec(item).canonicalize(value))
  return { ...desired, candidates: values, templates: replaced }
}
