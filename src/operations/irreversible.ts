import {
  createConfirmedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../model/item.ts'
import type { Change } from '../model/change.ts'
import { listSome } from '../model/words.ts'
import type { Irreversible } from '../model/plan.ts'
import { computeRollback } from '../plan/compute-rollback.ts'
import { createSecretCheck } from './secret-check.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Lists warnings about changes that a failed health check can't roll back; none unless the
 * workspace rolls back on failure.
 */
export function listIrreversibleWarnings(
  workspace: LoadedWorkspace,
  changes: Change[],
  recorded: Snapshot,
): string[] {
  if (workspace.config.rollout.health?.onFailure !== 'rollback') return []
  const irreversible = findIrreversible(workspace, changes, recorded)
  if (irreversible.length === 0) return []
  return [`a failed health check can't roll back ${describeIrreversible(irreversible)}`]
}

/** Finds the changes that can't be rolled back once they are applied, or not completely. */
export function findIrreversible(
  { config, vault }: Pick<LoadedWorkspace, 'config' | 'vault'>,
  changes: Change[],
  recorded: Snapshot,
): Irreversible[] {
  const before = new Map<Domain, Map<ItemKey, ItemState | null>>()
  const after: Snapshot = new Map()
  for (const { domain, item, action, reason, after: value } of changes) {
    const itemsBefore = before.get(domain) ?? new Map<ItemKey, ItemState | null>()
    const itemsAfter = after.get(domain) ?? new Map<ItemKey, ItemState>(recorded.get(domain))
    itemsBefore.set(item, recorded.get(domain)?.get(item) ?? null)
    if (value !== null) itemsAfter.set(item, createConfirmedState(value))
    else if (action === 'unset' && reason !== 'cleared')
      itemsAfter.set(item, { status: 'unset', candidates: [] })
    else itemsAfter.delete(item)
    before.set(domain, itemsBefore)
    after.set(domain, itemsAfter)
  }
  return computeRollback(
    after,
    before,
    createSecretCheck(before, recorded, vault),
    config.service.itemKeys,
    config.service.unset,
  ).irreversible
}

/** Describes irreversible items: some of them with reasons, and the number of the others. */
export function describeIrreversible(irreversible: Irreversible[]): string {
  return listSome(
    irreversible.map(({ domain, item, reason }) => `${item} of ${domain} (${reason})`),
  )
}
