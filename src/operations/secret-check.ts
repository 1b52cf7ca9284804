import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemState, ItemKey, Snapshot } from '../model/item.ts'

/**
 * Tells by its fingerprint whether the value of a secret that was recorded once is at hand: it is
 * when a manifest still has it, or when what it was made from gives the same again. A command is
 * not run to know that: it counts as giving the same while no other value of it is recorded.
 *
 * @param recorded what is recorded now
 */
export function createSecretCheck(
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState | null>>,
  recorded: Snapshot,
  vault: SecretVault,
): (secret: string) => boolean {
  const templates = new Map<string, string>()
  for (const [secret, template] of templatesIn(before)) templates.set(secret, template)
  const later = new Map<string, Set<string>>()
  for (const [secret, template] of templatesIn(recorded)) {
    later.set(template, (later.get(template) ?? new Set()).add(secret))
  }
  const isLast = (secret: string, template: string) => {
    const known = later.get(template) ?? new Set()
    return known.size === 0 || (known.size === 1 && known.has(secret))
  }
  const atHand = new Map<string, boolean>()
  return (secret) => {
    const known =
      atHand.get(secret) ??
      // A manifest may have it by now.
      (vault.knows(secret) || isMadeFrom(secret, templates.get(secret), vault, isLast))
    atHand.set(secret, known)
    return known
  }
}

type Items = ReadonlyMap<ItemKey, ItemState | null>

function templatesIn(snapshot: ReadonlyMap<Domain, Items>): [secret: string, template: string][] {
  const items = [...snapshot.values()].flatMap((each) => [...each.values()])
  return items.flatMap((held) => Object.entries(held?.templates ?? {}))
}

function isMadeFrom(
  secret: string,
  template: string | undefined,
  vault: SecretVault,
  isLast: (secret: string, template: string) => boolean,
): boolean {
  if (template === undefined) return false
  try {
    const missing = vault.listMissing(template)
    if (missing.length === 0) return vault.resolve(template).$secret === secret
    return missing.every((name) => vault.isCommand(name)) && isLast(secret, template)
  } catch (error) {
    // A source that fails is no reason to leave everything else as it is.
    if (error instanceof EdgewiseError && error.code === 'access') return false
    throw error
  }
}
