import { itemSpec } from '../catalog/catalogue.ts'
import type { Held, Snapshot } from '../model/item.ts'
import { isUnresolved, mapSecrets } from '../model/secret.ts'

/**
 * Desired items with every secret whose value is not at hand replaced by the recorded fingerprint, where the record has
 * one for the same references: an unresolved secret counts as unchanged while its name is the recorded one.
 */
export function withKnownSecrets(desired: Snapshot, recorded: Snapshot): Snapshot {
  const result: Snapshot = new Map()
  for (const [domain, items] of desired) {
    const before = recorded.get(domain)
    result.set(
      domain,
      new Map([...items].map(([item, held]) => [item, before === undefined ? held : knownHeld(item, held, before.get(item))])),
    )
  }
  return result
}

function knownHeld(item: string, desired: Held, recorded: Held | undefined): Held {
  const templates = Object.entries(recorded?.templates ?? {})
  if (templates.length === 0) return desired
  let replaced = false
  const candidates = desired.candidates.map((value) =>
    mapSecrets(value, (secret) => {
      const known = isUnresolved({ $secret: secret }) ? templates.find(([, template]) => `unresolved:${template}` === secret) : undefined
      if (known === undefined) return { $secret: secret }
      replaced = true
      return { $secret: known[0] }
    }),
  )
  return replaced ? { ...desired, candidates: candidates.map((value) => itemSpec(item).canonical(value)) } : desired
}
