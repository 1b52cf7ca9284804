import type { Plannable, Computing } from './runtime/parts.ts'
import { listPastApplies, maxRevertChanges } from './history/past-applies.ts'
import type { HistoryReader, RecordedState, RolloutStore } from '../state/store/store.ts'
import type { GuardRequest } from './submission/guards.ts'
import { lockTargets } from './runtime/lock-selection.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { compareWritten } from './observation/compare-written.ts'
import { makePlan, type PlanOptions } from './submission/make-plan.ts'
import { matchSavedPlan, type MatchedPlan } from './submission/match-saved-plan.ts'
import { restrain } from './policies/restrain.ts'
import { refuseWithoutReadBack } from './observation/observe-live.ts'
import type { Ports } from './runtime/ports.ts'
import { refuseEmpty } from './runtime/refuse-invalid.ts'
import { refuseUnfinishedRollback } from './submission/rollout-decisions.ts'
import { select, type SelectionRequest } from './submission/select.ts'
import type { Executed } from './submission/executed.ts'
import { submitPlan } from './submission/submit-plan.ts'
import { verifyWritten } from './submission/verify-written.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { narrowSnapshot } from '../core/plan/selection.ts'

/** Options of an apply. */
export interface ApplyRequest extends SelectionRequest, GuardRequest, LockRequest {
  /** Text of a plan file to apply; the file selects its own domains and items. */
  planFile?: string
  /** Roll out in the workspace's waves; otherwise send all writes in one apply. */
  waves?: boolean
  /** Also apply changes that a stopped rollout put on hold. */
  retryHeld?: boolean
  /**
   * End where a rollout has to wait for some time: `result.waitMs` has how long. The next apply
   * resumes it.
   */
  suspends?: boolean
  /** Id of the rollout that it continues, and judges again once all waves have passed. */
  looksBack?: string
  /** Read back what was confirmed, and end as incomplete where it differs. */
  verify?: boolean
}

/**
 * Locks, plans, shows the plan, asks, and executes it.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function apply(
  loaded: LoadedWorkspace,
  request: ApplyRequest,
  ports: Ports,
): Promise<Executed> {
  const { planFile, waves = true, verify: verifies = false } = request
  refuseEmpty(loaded)
  if (verifies) refuseWithoutReadBack(loaded)
  const purpose = { reason: 'apply', selection: lockTargets(loaded, request), renames: true }
  return withState(loaded, purpose, request, ports, async (locked, recorded) => {
    const { store } = locked
    const workspace = await restrain(loaded, store)
    const { target = [], items = [] } = request
    const selected = narrowSnapshot(recorded, { target, items })
    ports.dialogue.show({ kind: 'state', recorded: selected, cutOff: store.listUnfinished() })
    await refuseUnfinishedRollback(store)
    const options = await loadPlanOptions(store, recorded, request)
    const { outside } = ports
    const isSaved = planFile !== undefined
    const traffic = isSaved ? undefined : await store.loadTraffic()
    const make = (base: RecordedState) =>
      planSelected(workspace, base, request, { ...options, traffic }, outside)
    const planned = !isSaved
      ? await make(recorded)
      : await matchSavedPlan(
          workspace,
          recorded,
          planFile,
          { ...request, waves },
          store,
          options,
          outside,
        )
    // A saved plan has no other values from which it could go on.
    const observed = await compareWritten(
      workspace,
      planned.plan,
      recorded,
      outside,
      isSaved ? [] : request.allow,
    )
    const base = new Map([...recorded, ...observed])
    const { plan, remake } = observed.size === 0 ? planned : await make(base)
    const own = { waves, locked, recorded: base, observed, asks: !isSaved, finishes: true, remake }
    const executed = await submitPlan(
      workspace,
      plan,
      { ...request, ...own, title: 'Apply' },
      ports,
    )
    return verifies ? verifyWritten(workspace, executed, base, store, ports) : executed
  })
}

/** Plans what a request selects. */
async function planSelected(
  workspace: Plannable,
  recorded: RecordedState,
  request: ApplyRequest,
  planOptions: PlanOptions,
  outside: Computing,
): Promise<MatchedPlan> {
  const selection = select(request, workspace, recorded)
  const make = (own: PlanOptions) => makePlan(workspace, recorded, selection, own, outside)
  return {
    plan: await make(planOptions),
    remake: (differs) => make({ ...planOptions, differs }),
  }
}

/** Loads the plan options, including the stored rollouts. */
export async function loadPlanOptions(
  store: RolloutStore & HistoryReader,
  recorded: RecordedState,
  { waves = true, retryHeld }: ApplyRequest,
): Promise<PlanOptions> {
  return {
    rollouts: await store.listRollouts(),
    retryHeld: retryHeld === true,
    atOnce: !waves,
    loadPast: () => listPastApplies(store, recorded, maxRevertChanges),
  }
}
