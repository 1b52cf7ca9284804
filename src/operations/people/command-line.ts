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
 * Finds who decides by a command, and by which rules: those of the checked-out workspace file. That
 * is who has the token of OpenID Connect in the environment, or else, with PostgreSQL, the role of
 * the database, which the server has checked; what a machine says of its user proves nothing.
 *
 * @returns null without rules: everybody decides then
 * @throws EdgewiseError `not-allowed` for a token that is refused
 */
export async function findCommandDecider(
  workspace: Settings,
  outside: StateOutside,
): Promise<Decider | null> {
  const { roles, rollout } = workspace.config
  const { approvers: needs } = rollout
  if (roles.length === 0 && needs.by === 1 && !needs.notAuthor) return null
  const identity =
    (await findTokenHolder(workspace, outside)) ?? (await findRole(workspace, outside))
  return { identity, rules: { sets: [{ roles, needs }], authors: null } }
}

/** Variable with a token of OpenID Connect, such as that of a job of CI. */
const tokenVariable = 'EDGEWISE_ID_TOKEN'

async function findTokenHolder(
  { config }: Settings,
  { env, identifyToken }: StateOutside,
): Promise<Identity | null> {
  const token = env[tokenVariable] ?? ''
  if (token === '' || identifyToken === undefined) return null
  const holder = await identifyToken(config.serve.auth, token.trim())
  if ('name' in holder) return holder
  throw createRefusal(`The token in ${tokenVariable} is refused: ${holder.fault}.`)
}

async function findRole(workspace: Settings, outside: StateOutside): Promise<Identity> {
  const { findUser } = await openState(workspace, outside)
  const role = findUser === undefined ? null : identifyMachine('database', await findUser())
  return role ?? unidentified
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
