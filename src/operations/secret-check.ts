import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemState, ItemKey, Snapshot } from '../model/item.ts'

/**
 * Creates a check, by fingerprint, of whether the value of a recorded secret is available: a
 * manifest still contains it, or its template resolves to the same value. The check runs no
 * command: its value counts as the same while no other value of it is recorded.
 *
 * @param recorded current state
 */
export function createSecretCheck(
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState | null>>,
  recorded: Snapshot,
  vault: SecretVault,
): (secret: string) => boolean {
  const templates = new Map<string, string>()
  for (const [secret, template] of collectTemplates(before)) templates.set(secret, template)
  const recordedSecrets = new Map<string, Set<string>>()
  for (const [secret, template] of collectTemplates(recorded)) {
    recordedSecrets.set(template, (recordedSecrets.get(template) ?? new Set()).add(secret))
  }
  const isLast = (secret: string, template: string) => {
    const known = recordedSecrets.get(template) ?? new Set()
    return known.size === 0 || (known.size === 1 && known.has(secret))
  }
  const results = new Map<string, boolean>()
  return (secret) => {
    const isAvailable =
      results.get(secret) ??
      // A manifest may contain it by now.
      (vault.knows(secret) || resolvesTo(secret, templates.get(secret), vault, isLast))
    results.set(secret, isAvailable)
    return isAvailable
  }
}

type Items = ReadonlyMap<ItemKey, ItemState | null>

function collectTemplates(
  snapshot: ReadonlyMap<Domain, Items>,
): [secret: string, template: string][] {
  const items = [...snapshot.values()].flatMap((each) => [...each.values()])
  return items.flatMap((state) => Object.entries(state?.templates ?? {}))
}

function resolvesTo(
  secret: string,
  template: string | undefined,
  vault: SecretVault,
  isLast: (secret: string, template: string) => boolean,
): boolean {
  if (template === undefined) return false
  try {
    const missing = vault.listMissing(template)
    if (missing.length === 0) return vault.isSame(secret, template)
    return missing.every((name) => vault.isCommand(name)) && isLast(secret, template)
  } catch (error) {
    // A failing source must not prevent the rollback of other items.
    if (error instanceof EdgewiseError && error.code === 'access') return false
    throw error
  }
}
