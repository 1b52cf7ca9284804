import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isUnfinished, type Rollout } from '../../core/model/rollout.ts'
import { listRollout } from '../../engine/rollout/decide.ts'
import { hashDesired } from '../../operations/submission/hash-desired.ts'
import type { Committed } from '../branch/workspaces.ts'

/** States in which a rollout waits for somebody. */
export const undecided = ['waiting-for-approval', 'paused']

/** Finds the rollout with this id; null unless its next step can be taken without a decision. */
export function findReady(rollouts: Rollout[], id: string): Rollout | null {
  const rollout = rollouts.find((each) => each.id === id)
  if (rollout === undefined || !isUnfinished(rollout)) return null
  return undecided.includes(listRollout(rollout, false).state) ? null : rollout
}

/**
 * Finds the manifests that a rollout began with: at its commit, or at the tip of the branch.
 *
 * @throws EdgewiseError `rollout-open` if neither has them, and those of the loads
 */
export async function findManifests(
  rollout: Pick<Rollout, 'id' | 'commit' | 'desiredHashes'>,
  load: (commit: string) => Promise<Committed>,
  loadHead: () => Promise<Committed>,
): Promise<Committed> {
  const { id, commit } = rollout
  if (commit !== null) {
    try {
      const own = await load(commit)
      if (hasManifests(own, rollout)) return own
    } catch (error) {
      // The branch may have been forced, so that nobody has the commit any more.
      if (!(error instanceof EdgewiseError) || !hasManifests(await loadHead(), rollout)) throw error
    }
  }
  const head = await loadHead()
  if (hasManifests(head, rollout)) return head
  throw new EdgewiseError(
    'rollout-open',
    `neither commit ${commit?.slice(0, 12) ?? '(unknown)'} nor the tip of the branch ` +
      'has the manifests that it began with',
    'Continue it where it was begun with "edgewise apply", or end it with ' +
      `"edgewise rollout abort ${id}".`,
  )
}

function hasManifests(
  workspace: Committed,
  { desiredHashes }: Pick<Rollout, 'desiredHashes'>,
): boolean {
  const { hashDomain } = hashDesired(workspace)
  return Object.entries(desiredHashes).every(([name, hash]) => hashDomain(name) === hash)
}
