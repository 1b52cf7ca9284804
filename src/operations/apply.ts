import type { RecordedState, Store } from '../state/store.ts'
import type { GuardRequest } from './guards.ts'
import { loadLocked } from './load-locked.ts'
import { lockTargets } from './lock-selection.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { makePlan, type PlanOptions } from './make-plan.ts'
import { matchSavedPlan, type MatchedPlan } from './match-saved-plan.ts'
import { refuseWithoutReadBack } from './observe-live.ts'
import type { Outside } from './outside.ts'
import type { Ports } from './ports.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { useMoves } from './renamed-domains.ts'
import { excludeSuperseded, refuseUnfinishedRollback } from './rollout-decisions.ts'
import { select, type SelectionRequest } from './select.ts'
import { submitPlan, type Executed } from './submit-plan.ts'
import { verifyWritten } from './verify-written.ts'
import { withLock, type LockRequest } from './with-lock.ts'
import type { Effort } from '../model/plan.ts'
import { inSpan } from '../model/tracing.ts'
import { narrowSnapshot } from '../plan/selection.ts'

/** Options of an apply. */
export interface ApplyRequest extends SelectionRequest, GuardRequest, LockRequest {
  /** Text of a plan file to apply; the file selects its own domains and items. */
  planFile?: string
  effort?: Effort
  /** Roll out in the workspace's waves; otherwise send all writes in one apply. */
  waves?: boolean
  /** Also apply changes that a stopped rollout put on hold. */
  retryHeld?: boolean
  /**
   * End where a rollout has to wait for some time: `result.waitMs` has how long. The next apply
   * resumes it.
   */
  suspends?: boolean
  /** Send nothing more once a write is refused, instead of bisecting it. */
  stopOnRefusal?: boolean
  /** Read back what was confirmed, and end as incomplete where it differs. */
  verify?: boolean
  /** List the changes that can't be rolled back. */
  findsIrreversible?: boolean
}

/**
 * Locks, plans, shows the plan, asks, and executes it.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function apply(
  workspace: LoadedWorkspace,
  request: ApplyRequest,
  ports: Ports,
): Promise<Executed> {
  const { planFile, waves = true, verify: verifies = false } = request
  refuseEmpty(workspace)
  if (verifies) refuseWithoutReadBack(workspace)
  const chosen = lockTargets(workspace, request)
  return withLock(workspace, 'apply', chosen, request, ports, async (locked) => {
    const { store } = locked
    useMoves(workspace, store)
    const recorded = await inSpan(ports.outside.tracer, 'load state', () =>
      loadLocked(store, ports.dialogue),
    )
    await loadSalt(workspace, store, ports.outside)
    const { target = [], items = [] } = request
    const selected = narrowSnapshot(recorded, { target, items })
    ports.dialogue.show({ kind: 'state', recorded: selected, cutOff: store.listUnfinished() })
    await refuseUnfinishedRollback(store, request)
    const options = await loadPlanOptions(store, request)
    const { plan, remake } =
      planFile === undefined
        ? await planSelected(workspace, recorded, request, options, ports.outside)
        : await matchSavedPlan(
            workspace,
            recorded,
            planFile,
            { ...request, waves },
            options,
            ports.outside,
          )
    const asks = planFile === undefined
    const executed = await submitPlan(
      workspace,
      plan,
      { ...request, title: 'Apply', waves, locked, recorded, asks, finishes: true, remake },
      ports,
    )
    return verifies ? verifyWritten(workspace, executed, recorded, store, ports) : executed
  })
}

/** Plans what a request selects. */
async function planSelected(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  request: ApplyRequest,
  planOptions: PlanOptions,
  outside: Outside,
): Promise<MatchedPlan> {
  const selection = select(request, workspace, recorded)
  const make = (own: PlanOptions) => makePlan(workspace, recorded, selection, own, outside)
  return {
    plan: await make(planOptions),
    remake: (differs) => make({ ...planOptions, differs }),
  }
}

/** Loads the plan options, including the stored rollouts. */
async function loadPlanOptions(
  store: Store,
  { waves = true, supersede, retryHeld, effort, findsIrreversible }: ApplyRequest,
): Promise<PlanOptions> {
  return {
    rollouts: excludeSuperseded(await store.listRollouts(), { supersede }),
    retryHeld: retryHeld === true,
    atOnce: !waves,
    effort,
    findsIrreversible,
  }
}
