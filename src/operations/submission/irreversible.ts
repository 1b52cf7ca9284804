import type { Configured, Secrets } from '../runtime/parts.ts'
import {
  createItemState,
  setItem,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../core/model/item.ts'
import type { Change } from '../../core/model/change.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { Irreversible } from '../../core/model/plan.ts'
import { computeRollback, type RollbackSnapshots } from '../../core/plan/compute-rollback.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/** Finds the changes that can't be rolled back once they are applied, or not completely. */
export function findIrreversible(
  workspace: Configured & Secrets,
  changes: Change[],
  recorded: Snapshot,
): Irreversible[] {
  if (changes.length === 0) return []
  const before = new Map<Domain, Map<ItemKey, ItemState | null>>()
  const after: Snapshot = new Map()
  for (const { domain, item, action, reason, after: value } of changes) {
    const itemsAfter = after.get(domain) ?? new Map<ItemKey, ItemState>(recorded.get(domain))
    if (value !== null || (action === 'unset' && reason !== 'cleared'))
      itemsAfter.set(item, createItemState(value))
    else itemsAfter.delete(item)
    setItem(before, domain, item, recorded.get(domain)?.get(item) ?? null)
    after.set(domain, itemsAfter)
  }
  return computeReversal(workspace, recorded, before, after).irreversible
}

/**
 * Computes how to restore the state `before` some changes.
 *
 * @param recorded current state, which has the references of secrets
 * @param now state from which it is restored
 */
export function computeReversal(
  { config, vault }: Configured & Secrets,
  recorded: Snapshot,
  before: ReadonlyMap<Domain, Items>,
  now: Snapshot = recorded,
): RollbackSnapshots {
  const { itemKeys, unset } = config.service
  return computeRollback(now, before, createSecretCheck(before, recorded, vault), itemKeys, unset)
}

/** Describes irreversible items: some of them with reasons, and the number of the others. */
export function describeIrreversible(irreversible: Irreversible[]): string {
  return listSome(
    irreversible.map(({ domain, item, reason }) => `${item} of ${domain} (${reason})`),
  )
}

/**
 * Creates a check, by fingerprint, of whether the value of a recorded secret is available: a
 * manifest still contains it, or its template resolves to the same value. The check runs no
 * command: its value counts as the same while no other value of it is recorded.
 *
 * @param recorded current state
 */
function createSecretCheck(
  before: ReadonlyMap<Domain, Items>,
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
