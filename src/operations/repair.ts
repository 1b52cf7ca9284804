import type { RecordedState } from '../state/store.ts'
import type { DriftRequest } from './drift.ts'
import { findDrift, buildRepairBase } from './find-drift.ts'
import type { GuardRequest } from './guards.ts'
import { loadLocked } from './load-locked.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { makePlan } from './make-plan.ts'
import type { Ports } from './ports.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { excludeSuperseded, refuseUnfinishedRollback } from './rollout-decisions.ts'
import { submitPlan, type Executed } from './submit-plan.ts'
import { withLock, type LockRequest } from './with-lock.ts'
import { pluralize } from '../model/words.ts'

/** Options of a repair. */
export type RepairRequest = DriftRequest & GuardRequest & LockRequest

/**
 * Locks, shows the drift, plans from the observed state, and applies that plan like any other.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function repair(
  workspace: LoadedWorkspace,
  request: RepairRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  refuseEmpty(workspace)
  return withLock(workspace, 'drift --repair', request, ports, async (locked) => {
    const { store } = locked
    const recorded = await loadLocked(store, dialogue)
    await loadSalt(workspace, store, outside)
    // The observed values are recorded before the plan is made of them.
    workspace.vault.keepSalt()
    const observed = request.observe === undefined ? null : await request.observe()
    const found = findDrift(workspace, recorded, observed, await store.listRollouts())
    const observedAtMs = outside.clock.now()
    dialogue.show({ kind: 'drift', found, at: observedAtMs })
    await refuseUnfinishedRollback(store, request)

    const observedState = buildRepairBase(
      found,
      recorded,
      workspace,
      new Date(observedAtMs).toISOString(),
    )
    const base: RecordedState = new Map([...recorded, ...observedState])
    const rollouts = excludeSuperseded(await store.listRollouts(), request)
    const plan = await makePlan(
      workspace,
      base,
      { target: [], items: [] },
      { rollouts, progress: dialogue.planning },
      outside,
    )
    const beforeSending = async () => {
      if (observedState.size === 0) return
      await store.save(observedState, `Observed values of ${observedState.size} domains`)
      dialogue.note(`Recorded the observed values of ${pluralize(observedState.size, 'domain')}.`)
    }
    return submitPlan(
      workspace,
      plan,
      { ...request, locked, recorded: base, waves: true, asks: true, beforeSending },
      ports,
    )
  })
}
