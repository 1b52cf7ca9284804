import {
  createConfirmedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../model/item.ts'
import type { Change } from '../model/change.ts'
import { listSome } from '../model/words.ts'
import { computeRollback, type Irreversible } from '../plan/compute-rollback.ts'
import { createSecretCheck } from './secret-check.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Sentences about what of a plan a health check could not take back; none where it would not try.
 */
export function listIrreversibleWarnings(
  { config, vault }: LoadedWorkspace,
  changes: Change[],
  recorded: Snapshot,
): string[] {
  if (config.rollout.health?.onFailure !== 'rollback') return []
  const before = new Map<Domain, Map<ItemKey, ItemState | null>>()
  const after: Snapshot = new Map()
  for (const { domain, item, action, reason, after: value } of changes) {
    const was = before.get(domain) ?? new Map<ItemKey, ItemState | null>()
    const is = after.get(domain) ?? new Map<ItemKey, ItemState>(recorded.get(domain))
    was.set(item, recorded.get(domain)?.get(item) ?? null)
    if (value !== null) is.set(item, createConfirmedState(value))
    else if (action === 'unset' && reason !== 'cleared')
      is.set(item, { status: 'unset', candidates: [] })
    else is.delete(item)
    before.set(domain, was)
    after.set(domain, is)
  }
  const { irreversible } = computeRollback(
    after,
    before,
    createSecretCheck(before, recorded, vault),
  )
  if (irreversible.length === 0) return []
  return [`a health check can't take back ${describeIrreversible(irreversible)}`]
}

/** Some of what can't be taken back, each with the reason, and how many more there are. */
export function describeIrreversible(irreversible: Irreversible[]): string {
  return listSome(
    irreversible.map(({ domain, item, reason }) => `${item} of ${domain} (${reason})`),
  )
}
