import { EdgewiseError } from '../model/edgewise-error.ts'
import { inSpan } from '../model/tracing.ts'
import { pluralize } from '../model/words.ts'
import { findItemsOnHold } from '../rollout/conflicts.ts'
import { observe, type DriftRequest } from './drift.ts'
import { buildRepairBase, findDrift, narrowDrift, refuseInvalid } from './find-drift.ts'
import type { FoundDrift } from './find-drift.ts'
import type { GuardRequest } from './guards.ts'
import { hashDesired } from './hash-desired.ts'
import { loadLocked } from './load-locked.ts'
import { lockTargets } from './lock-selection.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { makePlan, type PlanOptions } from './make-plan.ts'
import type { Ports } from './ports.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { useMoves } from './renamed-domains.ts'
import { excludeSuperseded, refuseUnfinishedRollback } from './rollout-decisions.ts'
import { createRepairTest, describeLeftOut, refuseNeeded } from './repair-part.ts'
import { refuseUnobserved } from './refuse-unobserved.ts'
import { select } from './select.ts'
import { submitPlan, type Executed } from './submit-plan.ts'
import { withLock, type LockRequest } from './with-lock.ts'

/** Options of a repair. */
export type RepairRequest = DriftRequest &
  GuardRequest &
  LockRequest & {
    /** Also write pending and in-doubt items. Default: only items that drifted at the service. */
    includePending?: boolean
    /**
     * End where a rollout has to wait for some time: `result.waitMs` has how long. The next apply
     * of the same manifests resumes it.
     */
    suspends?: boolean
  }

/**
 * Locks, shows the drift, plans the drifted items from the observed state, and applies that plan
 * like any other.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function repair(
  workspace: LoadedWorkspace,
  request: RepairRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  refuseInvalid(workspace)
  refuseEmpty(workspace)
  const { includePending = false } = request
  if (request.observe === undefined && !includePending)
    throw new EdgewiseError(
      'usage',
      'nothing was observed, so it is not known which items drifted; nothing was sent',
      'Pass --observed or --live. "edgewise apply" applies pending items.',
    )
  const chosen = lockTargets(workspace, request)
  return withLock(workspace, 'drift --repair', chosen, request, ports, async (locked) => {
    const { store } = locked
    useMoves(workspace, store)
    const recorded = await inSpan(outside.tracer, 'load state', () => loadLocked(store, dialogue))
    await loadSalt(workspace, store, outside)
    const selection = select(request, workspace, recorded)
    // The observed values are recorded before the plan is made of them.
    workspace.vault.keepSalt()
    const observed = await observe(request, { workspace, recorded, selection }, outside)
    outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
    const rollouts = await store.listRollouts()
    const all = findDrift(workspace, recorded, observed, rollouts)
    const found = narrowDrift(all, selection)
    if (observed !== null) refuseUnobserved(found, workspace)
    const observedAtMs = outside.clock.now()
    await dialogue.show({ kind: 'drift', found, at: observedAtMs })
    if (!includePending) for (const text of describeLeftOut(found.drift)) dialogue.note(text)
    await refuseUnfinishedRollback(store, request)

    const observedAt = new Date(observedAtMs).toISOString()
    const addObserved = (drifted: FoundDrift) => {
      const state = buildRepairBase(drifted, recorded, workspace, observedAt)
      return { state, base: new Map([...recorded, ...state]) }
    }
    const { state: observedState, base } = addObserved(found)
    const isRepaired = createRepairTest(found.drift, includePending)
    const onHold = findItemsOnHold(rollouts, hashDesired(workspace).hashItem)
    refuseNeeded(
      workspace,
      addObserved(all).base,
      all.drift,
      (change) => isRepaired(change) && onHold.get(change.domain)?.has(change.item) !== true,
    )
    const options: PlanOptions = {
      rollouts: excludeSuperseded(rollouts, request),
      ...(includePending ? {} : { isPlanned: isRepaired }),
    }
    const make = (own: PlanOptions) => makePlan(workspace, base, selection, own, outside)
    const plan = await make(options)
    const beforeSending = async () => {
      if (observedState.size === 0) return
      outside.onPhase?.({ name: 'saving-state', total: observedState.size })
      await store.save(observedState, `Observed values of ${observedState.size} domains`)
      dialogue.note(`Recorded the observed values of ${pluralize(observedState.size, 'domain')}.`)
    }
    const isPart = !includePending
    return submitPlan(
      workspace,
      plan,
      {
        ...request,
        title: 'Repair',
        locked,
        recorded: base,
        waves: true,
        asks: true,
        isPart,
        remake: (differs) => make({ ...options, differs }),
        beforeSending,
      },
      ports,
    )
  })
}
