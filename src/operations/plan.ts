import type { Effort, Plan } from '../model/plan.ts'
import { listFirstPlanWarnings } from './first-plan-warnings.ts'
import { listGuardWarnings } from './guards.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { makePlan } from './make-plan.ts'
import { loadState } from './open-state.ts'
import type { Dialogue, Ports } from './ports.ts'
import { select, type SelectionRequest } from './select.ts'

/** What a plan is asked for. */
export interface PlanRequest extends SelectionRequest {
  effort?: Effort
  /** Say why each write is as it is. */
  explain?: boolean
}

/** The ports of a plan, which asks nothing. */
interface PlanPorts extends Pick<Ports, 'outside'> {
  dialogue: Pick<Dialogue, 'planning'>
}

/** A plan, and what belongs beside it. */
export interface Planned {
  plan: Plan
  /** Sentences about the state that the plan rests on. */
  notes: string[]
}

/**
 * Plans what would change, and the fewest writes found for it. Writes neither to the service nor to
 * state, and needs no token.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when nothing is chosen
 */
export async function plan(
  workspace: LoadedWorkspace,
  request: PlanRequest,
  { outside, dialogue }: PlanPorts,
): Promise<Planned> {
  const { store, recorded } = await loadState(workspace, outside)
  const selection = select(request, workspace, recorded)
  const rollouts = await store.listRollouts()
  const { effort = 'normal', explain = false } = request
  const made = await makePlan(
    workspace,
    recorded,
    selection,
    { effort, explain, rollouts, progress: dialogue.planning },
    outside,
  )
  const warnings = [
    ...made.warnings,
    ...listGuardWarnings(workspace, recorded, made, outside.clock.now()),
  ]
  return {
    plan: { ...made, warnings },
    notes: await listFirstPlanWarnings(workspace, store, recorded),
  }
}
