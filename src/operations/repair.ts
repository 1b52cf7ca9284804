import type { RecordedState } from '../state/store.ts'
import type { DriftRequest } from './drift.ts'
import { findDrift, buildRepairBase } from './find-drift.ts'
import type { GuardRequest } from './guards.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { makePlan } from './make-plan.ts'
import type { Ports } from './ports.ts'
import { excludeSuperseded } from './rollout-decisions.ts'
import { submitPlan, type Executed } from './submit-plan.ts'
import { withLock } from './with-lock.ts'
import { pluralize } from '../model/words.ts'

/** What a repair is asked for. */
export interface RepairRequest extends DriftRequest, GuardRequest {
  /** Seconds to wait while another process holds the lock. */
  lockTimeout?: number
}

/**
 * Locks, shows the drift, plans from what was observed, and applies that like any other plan.
 *
 * @throws EdgewiseError when nothing was sent; what was sent and not confirmed is in the result
 */
export async function repair(
  workspace: LoadedWorkspace,
  request: RepairRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  return withLock(workspace, 'drift --repair', request.lockTimeout ?? 0, ports, async (locked) => {
    const { store } = locked
    const recorded = await store.load()
    const observed = request.observe === undefined ? null : await request.observe()
    const found = findDrift(workspace, recorded, observed, await store.listRollouts())
    const at = outside.clock.now()
    dialogue.show({ kind: 'drift', found, at })

    const seen = buildRepairBase(found, recorded, workspace, new Date(at).toISOString())
    const base: RecordedState = new Map([...recorded, ...seen])
    const rollouts = excludeSuperseded(await store.listRollouts(), request)
    const plan = await makePlan(
      workspace,
      base,
      { target: [], items: [] },
      { rollouts, progress: dialogue.planning },
      outside,
    )
    const beforeSending = async () => {
      if (seen.size === 0) return
      await store.save(seen, `Observed values of ${seen.size} domains`)
      dialogue.note(`What was observed of ${pluralize(seen.size, 'domain')} is recorded.`)
    }
    return submitPlan(
      workspace,
      plan,
      { ...request, locked, recorded: base, waves: true, asks: true, beforeSending },
      ports,
    )
  })
}
