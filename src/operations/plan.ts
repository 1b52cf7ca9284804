import { selectDefinite, type Effort, type Plan } from '../model/plan.ts'
import { bindHashes } from '../plan/basis.ts'
import { findUnfinished } from '../rollout/on-hold.ts'
import { estimateBudgetWait } from './estimate-budget-wait.ts'
import { findAuthor } from './execute-plan.ts'
import { listFirstPlanWarnings } from './first-plan-warnings.ts'
import { listGuardWarnings } from './guards.ts'
import { listLateNotes } from './late-notes.ts'
import { openKnownStates, type LoadedWorkspace } from './load-workspace.ts'
import { makePlan } from './make-plan.ts'
import { markOlder } from './older-values.ts'
import { loadState } from './open-state.ts'
import type { Ports } from './ports.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { listManaged, refuseOwnedElsewhere } from './refuse-owned-elsewhere.ts'
import { checkMoves } from './renamed-domains.ts'
import { select, type SelectionRequest } from './select.ts'
import { describeStrangeRelease, findStrangeRelease, releaseHint } from './strange-release.ts'
import { listUnsharedNotes } from './unshared-notes.ts'

/** Options of a plan. */
export interface PlanRequest extends SelectionRequest {
  effort?: Effort
  /** Explain each write. */
  explain?: boolean
  /** List the changes that can't be rolled back. */
  findsIrreversible?: boolean
}

/** Plan and its notes. */
export interface Planned {
  plan: Plan
  /** Notes about the state that the plan is based on. */
  notes: string[]
  /** True if the rollback of a rollout is unfinished: part of its change is still live. */
  rollbackUnfinished: boolean
}

/**
 * Plans the changes, and the fewest writes found for them. Writes neither to the service nor to
 * state, and needs no token.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when nothing is selected,
 * `owned-elsewhere` when a domain belongs to another workspace
 */
export async function plan(
  workspace: LoadedWorkspace,
  request: PlanRequest,
  { outside }: Pick<Ports, 'outside'>,
): Promise<Planned> {
  refuseEmpty(workspace)
  const known = openKnownStates(workspace, outside)
  const { store, recorded } = await loadState(workspace, outside, known, true)
  known?.save()
  const moves = await checkMoves(workspace, store)
  const selection = select(request, workspace, recorded)
  const rollouts = await store.listRollouts()
  const { effort = 'normal', explain = false, findsIrreversible } = request
  const unmarked = await makePlan(
    workspace,
    recorded,
    selection,
    { effort, explain, findsIrreversible, rollouts },
    outside,
  )
  const strange = await findStrangeRelease(workspace, store, recorded)
  const by = { author: findAuthor(outside), strange }
  const made = await markOlder(workspace, store, recorded, unmarked, by)
  await refuseOwnedElsewhere(workspace, store, listManaged(made))
  const warnings = [
    ...(strange === null
      ? []
      : [`apply will refuse this plan. ${describeStrangeRelease(strange)}. ${releaseHint}`]),
    ...made.warnings,
    ...listGuardWarnings(workspace, recorded, made, outside.clock.now()),
  ]
  const budgetWait = await estimateBudgetWait(
    selectDefinite(made).writes,
    workspace,
    store,
    outside,
  )
  return {
    plan: {
      ...made,
      warnings,
      basis: bindBasis(made.basis, workspace),
      ...(budgetWait > 0 ? { budgetWait } : {}),
    },
    notes: [
      ...moves,
      ...(await listFirstPlanWarnings(workspace, store, recorded)),
      ...(await listUnsharedNotes(store)),
      ...listLateNotes(recorded),
    ],
    rollbackUnfinished: findUnfinished(rollouts).length > 0,
  }
}

/** Binds the hashes of a plan that may be saved to its workspace. */
function bindBasis(basis: Plan['basis'], { config }: LoadedWorkspace): Plan['basis'] {
  const owner = { id: config.id, address: config.service.url }
  return {
    ...basis,
    desired: bindHashes(basis.desired, owner),
    recorded: bindHashes(basis.recorded, owner),
  }
}
