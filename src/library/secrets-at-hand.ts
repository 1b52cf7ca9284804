import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, Held, ItemKey } from '../model/item.ts'

/**
 * Tells by its fingerprint whether the value of a secret that was recorded once is at hand: it is when a manifest still has
 * it, or when what it was made from gives the same again.
 */
export function secretsAtHand(
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Held | null>>,
  vault: SecretVault,
): (secret: string) => boolean {
  const templates = new Map<string, string>()
  for (const items of before.values()) {
    for (const held of items.values())
      for (const [secret, template] of Object.entries(held?.templates ?? {})) templates.set(secret, template)
  }
  const atHand = new Map<string, boolean>()
  return (secret) => {
    const known = atHand.get(secret) ?? (vault.knows(secret) || isMadeFrom(secret, templates.get(secret), vault))
    atHand.set(secret, known)
    return known
  }
}

function isMadeFrom(secret: string, template: string | undefined, vault: SecretVault): boolean {
  if (template === undefined) return false
  try {
    return vault.refer(template.includes('${') ? template : `\${secret:${template}}`).$secret === secret
  } catch (error) {
    // A source that fails is no reason to leave everything else as it is.
    if (error instanceof EdgewiseError && error.code === 'access') return false
    throw error
  }
}
