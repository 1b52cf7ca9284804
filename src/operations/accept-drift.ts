import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import { pluralize } from '../model/words.ts'
import { observe, type DriftRequest } from './drift.ts'
import { buildRepairBase, findDrift, narrowDrift, refuseInvalid } from './find-drift.ts'
import { loadLocked } from './load-locked.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { lockTargets } from './lock-selection.ts'
import { markLateItems } from './mark-late-items.ts'
import type { Ports } from './ports.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { refuseUnobserved } from './refuse-unobserved.ts'
import { select } from './select.ts'
import { withLock, type LockRequest } from './with-lock.ts'

/** Number of domains and items whose observed values were recorded. */
export interface Accepted {
  domains: number
  items: number
}

/**
 * Locks, shows the drift, asks, and records what was observed of the items that differ at the
 * service. Writes nothing to the service; manifests that ask for other values are pending then.
 * Items that are in-doubt, unreadable or ignored stay as they are recorded.
 *
 * @throws EdgewiseError `declined`, and as `drift`
 */
export async function acceptDrift(
  workspace: LoadedWorkspace,
  request: DriftRequest & LockRequest,
  ports: Ports,
): Promise<Accepted> {
  const { outside, dialogue } = ports
  refuseInvalid(workspace)
  refuseEmpty(workspace)
  if (request.observe === undefined)
    throw new EdgewiseError(
      'usage',
      'nothing was observed, so there is nothing to accept',
      'Pass --live or --observed.',
    )
  const chosen = lockTargets(workspace, request)
  return withLock(workspace, 'drift --accept', chosen, request, ports, async (locked) => {
    const { store } = locked
    const recorded = await loadLocked(store, dialogue)
    await loadSalt(workspace, store, outside)
    const selection = select(request, workspace, recorded)
    // Observed secrets are recorded, so their fingerprints need the salt that is stored.
    workspace.vault.keepSalt()
    const observation = await observe(request, { workspace, recorded, selection }, outside)
    outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
    const rollouts = await store.listRollouts()
    const found = narrowDrift(findDrift(workspace, recorded, observation, rollouts), selection)
    refuseUnobserved(found, workspace)
    const observedAtMs = outside.clock.now()
    await dialogue.show({ kind: 'drift', found, at: observedAtMs })
    const { live } = found.drift
    const differing = { ...found, drift: { ...found.drift, items: [] } }
    const observedAt = new Date(observedAtMs).toISOString()
    const base = buildRepairBase(differing, recorded, workspace, observedAt)
    const counts = { domains: base.size, items: live.length }
    if (live.length === 0) return counts
    if (!(await dialogue.confirm({ kind: 'accept', ...counts })))
      throw new CancelledError('Accept cancelled: nothing was recorded')
    const state = await markLateItems(base, recorded, workspace, locked, dialogue)
    outside.onPhase?.({ name: 'saving-state', total: state.size })
    await store.save(state, `Accept ${pluralize(counts.items, 'observed item')}`)
    return counts
  })
}
