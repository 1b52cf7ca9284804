import type { KeyObject } from 'node:crypto'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { ApprovalFile } from '../../core/model/generated/state-types.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import { approveSavedPlan, listPlannedDomains } from '../../operations/people/approve-saved-plan.ts'
import { createRefusal } from '../../operations/people/decide.ts'
import { keyVariable, parsePrivateKey } from '../../operations/people/plan-approval.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'
import type { Branch } from '../branch/branch.ts'
import { refuseInvalid, type Committed } from '../branch/workspaces.ts'
import type { Rights } from './rights.ts'

/** Variable with the key by which the server signs approvals of saved plans. */
export const serveKeyVariable = 'EDGEWISE_SERVE_APPROVAL_KEY'

/** What approvals of saved plans need. */
export interface PlanApprovalContext {
  /** Null without a key. */
  key: KeyObject | null
  branch: Pick<Branch, 'fetch' | 'hold'>
  rights: Pick<Rights, 'explainPlan'>
  outside: Outside
  /** Returns the fetched commit; null if this replica has fetched none. */
  getTip(): string | null
  loadCommit(commit: string): Promise<Committed>
}

/**
 * Reads the key by which the server signs approvals; null without one.
 *
 * @throws EdgewiseError `usage` for anything but a private Ed25519 key in PEM
 */
export function readServeKey(env: Outside['env']): KeyObject | null {
  const text = env[serveKeyVariable] ?? ''
  return text === '' ? null : parsePrivateKey(text, `the variable ${serveKeyVariable}`)
}

/** Creates what approves saved plans, one at a time: each is planned again. */
export function createPlanApprovals(context: PlanApprovalContext) {
  const { key, branch, rights, outside, loadCommit } = context
  const oneByOne = createSerialQueue()
  /**
   * Approves a saved plan if it fits the followed branch and the state, and somebody may.
   *
   * @param text content of the plan file
   * @throws EdgewiseError `not-allowed`, `stale-plan`, `usage` without a key
   */
  return async (text: string, identity: Identity): Promise<ApprovalFile> => {
    const domains = listPlannedDomains(text)
    const refusal = await rights.explainPlan(identity, domains)
    if (refusal !== null) throw createRefusal(refusal)
    if (key === null)
      throw new EdgewiseError(
        'usage',
        `this server approves no saved plan: ${serveKeyVariable} is not set`,
        `Set it to a private Ed25519 key in PEM, or use "plan approve" with ${keyVariable}.`,
      )
    if (domains.length === 0)
      throw new EdgewiseError('usage', 'the plan has no changes, so there is nothing to approve')
    return oneByOne(async () => {
      const commit = context.getTip() ?? (await branch.fetch())
      const loaded = await loadCommit(commit)
      refuseInvalid(loaded)
      return branch.hold(commit, () => approveSavedPlan(loaded, text, identity, key, outside))
    })
  }
}
