import { identifyMachine, unidentified, type Identity } from '../../core/model/people/identity.ts'
import type { Action } from '../../core/model/people/roles.ts'
import { openState } from '../runtime/open-state.ts'
import type { StateOutside } from '../runtime/outside.ts'
import type { Settings } from '../runtime/workspace-parts.ts'
import { createRefusal, explainDecision, type DecisionRules } from './decide.ts'

/** Somebody who decides, and by which rules. */
export interface Decider {
  identity: Identity
  rules: DecisionRules
}

/**
 * Finds who decides by a command, and by which rules: those of the checked-out workspace file. With
 * PostgreSQL that is the role of the database, which the server has checked; what a machine says of
 * its user proves nothing.
 *
 * @returns null without rules: everybody decides then
 */
export async function findCommandDecider(
  workspace: Settings,
  outside: StateOutside,
): Promise<Decider | null> {
  const { roles, rollout } = workspace.config
  const { approvers: needs } = rollout
  if (roles.length === 0 && needs.by === 1 && !needs.notAuthor) return null
  const { findUser } = await openState(workspace, outside)
  const role = findUser === undefined ? null : identifyMachine('database', await findUser())
  return { identity: role ?? unidentified, rules: { sets: [{ roles, needs }], authors: null } }
}

/**
 * Refuses an action about all writes to who decides by a command.
 *
 * @throws EdgewiseError `not-allowed`
 */
export async function refuseCommand(
  action: Action,
  workspace: Settings,
  outside: StateOutside,
): Promise<Identity | null> {
  const decider = await findCommandDecider(workspace, outside)
  if (decider === null) return null
  const refusal = explainDecision(decider.identity, action, null, decider.rules)
  if (refusal !== null) throw createRefusal(refusal)
  return decider.identity
}
