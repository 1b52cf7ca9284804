import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, Snapshot } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import { pluralize, listSome } from '../model/words.ts'

/** Returns how many changes are on hold, and sentences that say so. */
export function describeOnHold(
  recorded: Snapshot,
  desired: Snapshot,
  held: ReadonlyMap<Domain, Rollout>,
): { changes: number; notes: string[] } {
  const { changes } = diffSnapshots(recorded, desired)
  const notes = [...groupBy(changes, ({ domain }) => held.get(domain))].flatMap(
    ([rollout, own]) => {
      if (rollout === undefined) return []
      const domains = [...new Set(own.map(({ domain }) => domain))]
      const { id, reason } = rollout
      return [
        `${pluralize(own.length, 'change')} of ${listSome(domains)} held: rollout ${id} was ${over(rollout)} (${reason ?? ''}). Change the manifests, or "edgewise apply --retry-held"`,
      ]
    },
  )
  return { changes: changes.length, notes: [...notes, ...describeUnfinished(held)] }
}

function over({ state }: Rollout): string {
  return {
    open: 'open',
    stopped: 'stopped',
    'taking-back': 'being taken back',
    'taken-back': 'taken back',
  }[state]
}

/**
 * Sentences about rollouts whose way back did not come to its end. What of them is still at the
 * service no plan shows: it is what the manifests ask for.
 */
export function describeUnfinished(held: ReadonlyMap<Domain, Rollout>): string[] {
  return [...new Set(held.values())].flatMap(({ id, state, reason }) =>
    state === 'taking-back'
      ? [
          `rollout ${id} is not wholly taken back (${reason ?? ''}): some of it is still at the service. "edgewise rollback ${id}" finishes that`,
        ]
      : [],
  )
}
