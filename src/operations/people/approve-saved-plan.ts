import type { Plannable } from '../runtime/workspace-parts.ts'
import type { KeyObject } from 'node:crypto'
import type { ApprovalFile } from '../../core/model/generated/state-types.ts'
import { parseJson } from '../../core/model/json.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import { parseSavedPlan } from '../../core/plan/saved-plan.ts'
import { loadPlanOptions } from '../apply.ts'
import { describeAct } from '../history/describe-act.ts'
import { refuseEmpty } from '../refuse-invalid.ts'
import { loadState } from '../runtime/open-state.ts'
import type { Outside } from '../runtime/outside.ts'
import { matchSavedPlan } from '../submission/match-saved-plan.ts'
import { listManaged, refuseOwnedElsewhere } from '../submission/refuse-owned-elsewhere.ts'
import { refuseUnfinishedRollback } from '../submission/rollout-decisions.ts'
import { approvalHours, approveFor, digestPlan, refuseUsed } from './plan-approval.ts'

/**
 * Lists the domains of a plan file.
 *
 * @throws EdgewiseError `stale-plan` if it can't be used
 */
export function listPlannedDomains(text: string): string[] {
  return parseSavedPlan(parseJson(text)).selection.target
}

/**
 * Approves a saved plan for somebody who may: refuses it unless an apply would take it now, records
 * the approval in the history, and signs it. Takes no lock, and sends nothing.
 *
 * @param text content of the plan file
 * @throws EdgewiseError `stale-plan`, `not-allowed` for a plan that was applied before,
 * `owned-elsewhere`, `rollback-unfinished`
 */
export async function approveSavedPlan(
  workspace: Plannable,
  text: string,
  { name, knownBy }: Identity,
  key: KeyObject,
  outside: Outside,
): Promise<ApprovalFile> {
  refuseEmpty(workspace)
  const digest = digestPlan(text)
  const { store, recorded } = await loadState(workspace, outside, true)
  await refuseUnfinishedRollback(store)
  await refuseUsed(store, digest)
  const options = await loadPlanOptions(store, recorded, {})
  const request = { waves: true }
  const matched = await matchSavedPlan(workspace, recorded, text, request, store, options, outside)
  await refuseOwnedElsewhere(workspace, store, listManaged(matched.plan))
  const now = outside.clock.now()
  const approval = approveFor(approvalHours, { plan: digest, by: name, now }, key)
  const note = describeAct(outside, 'approval', `saved plan ${digest}`, {
    at: approval.at,
    by: { name, knownBy },
    commit: parseSavedPlan(parseJson(text)).commit,
    outcome: `until ${approval.expires}`,
  })
  await store.chain.record(note, `Saved plan ${digest.slice(0, 12)} approved`)
  return approval
}
