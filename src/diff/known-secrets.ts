import { getItemSpec } from '../catalog/catalogue.ts'
import type { ItemState, Snapshot } from '../model/item.ts'
import { isUnresolved, mapSecrets } from '../model/secret.ts'

/**
 * Replaces unresolved secrets in desired items by the recorded fingerprint of the same reference.
 * So a secret whose value is not available counts as unchanged while its name is the recorded one.
 * The replaced references are in `templates`, so that the values can be resolved later.
 */
export function replaceKnownSecrets(desired: Snapshot, recorded: Snapshot): Snapshot {
  const result: Snapshot = new Map()
  for (const [domain, items] of desired) {
    const before = recorded.get(domain)
    result.set(
      domain,
      new Map(
        [...items].map(([item, state]) => [
          item,
          before === undefined ? state : replaceInItem(item, state, before.get(item)),
        ]),
      ),
    )
  }
  return result
}

function replaceInItem(
  item: string,
  desired: ItemState,
  recorded: ItemState | undefined,
): ItemState {
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
