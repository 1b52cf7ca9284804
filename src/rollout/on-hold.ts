import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import { pluralize, listSome } from '../model/words.ts'

/** Counts and describes the changes on hold. */
export function describeOnHold(
  recorded: Snapshot,
  desired: Snapshot,
  onHold: ReadonlyMap<Domain, Rollout>,
  itemKeys: Record<ItemKey, string>,
): { changes: number; notes: string[] } {
  const { changes } = diffSnapshots(recorded, desired, itemKeys)
  const notes = [...groupBy(changes, ({ domain }) => onHold.get(domain))].flatMap(
    ([rollout, own]) => {
      if (rollout === undefined) return []
      const domains = [...new Set(own.map(({ domain }) => domain))]
      const { id, reason } = rollout
      return [
        `${pluralize(own.length, 'change')} of ${listSome(domains)} on hold: ` +
          `rollout ${id} was ${describeState(rollout)} (${reason ?? ''}). ` +
          'Change the manifests, or "edgewise apply --retry-held"',
      ]
    },
  )
  return { changes: changes.length, notes }
}

function describeState({ state }: Rollout): string {
  return {
    open: 'open',
    stopped: 'stopped',
    'taking-back': 'being rolled back',
    'taken-back': 'rolled back',
  }[state]
}

/**
 * Describes rollouts with an unfinished rollback. Their changes that are still live are in no plan:
 * they match the manifests.
 */
export function describeUnfinished(rollouts: Rollout[]): string[] {
  return findUnfinished(rollouts).map(
    ({ id, reason }) =>
      `the rollback of rollout ${id} is unfinished (${reason ?? ''}): ` +
      `some of its changes are still live. "edgewise rollback ${id}" finishes it`,
  )
}

/** Finds the rollouts whose rollback by a health check is unfinished. */
export function findUnfinished(rollouts: Rollout[]): Rollout[] {
  return rollouts.filter(({ state }) => state === 'taking-back')
}
