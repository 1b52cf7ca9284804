import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, Held, ItemKey, Snapshot } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'

/**
 * Takes domains that are held out of both sides, so that nothing of them is a change.
 *
 * @returns how many changes that leaves out, and sentences that say so
 */
export function takeHeld(known: Snapshot, wanted: Snapshot, held: ReadonlyMap<Domain, Rollout>): { changes: number; notes: string[] } {
  const changes = [...held].flatMap(([domain, rollout]) => {
    const [from, to] = [known, wanted].map((snapshot): Snapshot => new Map([[domain, snapshot.get(domain) ?? new Map<ItemKey, Held>()]]))
    known.delete(domain)
    wanted.delete(domain)
    return diffSnapshots(from ?? new Map(), to ?? new Map()).changes.map((change) => ({ change, rollout }))
  })
  const notes = [...groupBy(changes, ({ rollout }) => rollout)].map(([rollout, own]) => {
    const domains = [...new Set(own.map(({ change }) => change.domain))]
    const some = domains.slice(0, 3).join(', ') + (domains.length > 3 ? ` and ${domains.length - 3} more` : '')
    const count = own.length === 1 ? '1 change' : `${own.length} changes`
    const { id, reason } = rollout
    return `${count} of ${some} held: rollout ${id} was ${over(rollout)} (${reason ?? ''}). Change the manifests, or "edgewise apply --retry-held"`
  })
  return { changes: changes.length, notes: [...notes, ...unfinishedNotes(held)] }
}

function over({ state }: Rollout): string {
  return { open: 'open', stopped: 'stopped', 'taking-back': 'being taken back', 'taken-back': 'taken back' }[state]
}

/**
 * Sentences about rollouts whose way back did not come to its end. What of them is still at the service no plan shows: it is what the
 * manifests ask for.
 */
export function unfinishedNotes(held: ReadonlyMap<Domain, Rollout>): string[] {
  return [...new Set(held.values())].flatMap(({ id, state, reason }) =>
    state === 'taking-back'
      ? [
          `rollout ${id} is not wholly taken back (${reason ?? ''}): some of it is still at the service. "edgewise rollback ${id}" finishes that`,
        ]
      : [],
  )
}
