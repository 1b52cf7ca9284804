import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  identify,
  unidentified,
  type Actor,
  type Identity,
} from '../../core/model/people/identity.ts'
import { joinNeeds } from '../../core/model/people/approvers.ts'
import type { Action } from '../../core/model/people/roles.ts'
import type { OpenState } from '../../state/store/store-opener.ts'
import { describeAct } from '../history/describe-act.ts'
import { joinSources } from '../policies/restrain.ts'
import { openState } from '../runtime/open-state.ts'
import type { Outside, Settings } from '../runtime/parts.ts'
import { findAuthor } from '../submission/find-author.ts'
import { createRefusal, explainDecision, type DecisionRules } from './decide.ts'

/** Somebody who decides, and by which rules. */
export interface Decider {
  identity: Identity
  rules: DecisionRules
}

/**
 * Finds who decides by a command, and by which rules: those of the checked-out workspace file.
 *
 * @param about what is decided, for the history if a token is refused
 * @param isApproval whether the rules that were applied last count, too
 * @returns null without rules: everybody decides then
 * @throws EdgewiseError `not-allowed` for a token that is refused
 */
export async function findCommandDecider(
  workspace: Settings,
  outside: Outside,
  about: string,
  isApproval = false,
): Promise<Decider | null> {
  const { roles, rollout } = workspace.config
  const state = await openState(workspace, outside)
  const last = joinSources((isApproval && (await state.store.loadRestraints())?.own) || [])
  const needs = joinNeeds([rollout.approvers, last.rollout.approvers])
  const lists = [roles, ...last.roles].filter(({ length }) => length > 0)
  if (lists.length === 0 && needs.by === 1 && !needs.notAuthor) return null
  const identity = await identifyUser(workspace, state, outside, about)
  const sets = (lists.length > 0 ? lists : [[]]).map((each) => ({ roles: each, needs }))
  return { identity, rules: { sets, authors: 'a command does not ask for them' } }
}

/**
 * Finds who acts, for the history.
 *
 * @param about what is done, for the history if a token is refused
 * @throws EdgewiseError `not-allowed` for a token that is refused
 */
export async function findActor(
  workspace: Settings,
  state: OpenState,
  outside: Outside,
  about: string,
): Promise<Actor> {
  return outside.actor ?? toActor(await identifyUser(workspace, state, outside, about), outside)
}

/** Names an identity for the history: an unidentified one as the machine does. */
export function toActor(
  { groups: _groups, email: _email, ...actor }: Identity,
  outside: Outside,
): Actor {
  return actor.knownBy === 'unidentified' ? { ...actor, name: findAuthor(outside) } : actor
}

/** Variable with a token of OpenID Connect, such as that of a job of CI. */
const tokenVariable = 'EDGEWISE_ID_TOKEN'

/**
 * Identifies who has the token of OpenID Connect in the environment, or else, with PostgreSQL, the
 * role of the database, which the server has checked; what a machine says of its user proves
 * nothing.
 */
async function identifyUser(
  { config }: Settings,
  { store, findUser }: OpenState,
  outside: Outside,
  about: string,
): Promise<Identity> {
  const token = outside.env[tokenVariable]?.trim() ?? ''
  const holder = token === '' ? undefined : await outside.identifyToken?.(config.serve.auth, token)
  if (holder !== undefined && 'name' in holder) return holder
  if (holder !== undefined)
    return judgeAttempt({ store, outside, by: toActor(unidentified, outside), about }, () => {
      throw createRefusal(`The token in ${tokenVariable} is refused: ${holder.fault}.`)
    })
  const role = findUser === undefined ? null : identify('database', await findUser())
  return role ?? unidentified
}

/** An attempt of a command. */
interface Attempt extends Pick<OpenState, 'store'> {
  outside: Outside
  by: Actor
  /** What is attempted: an action, and the rollout if it is about one. */
  about: string
}

/** Judges an attempt of a command; one that is not allowed gets an entry of the history. */
export async function judgeAttempt<T>(
  { store, outside, by, about }: Attempt,
  judge: () => T,
): Promise<T> {
  try {
    return judge()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'not-allowed') throw error
    const outcome = error.message
    const known = { by, outcome }
    await store.chain
      .addLater(describeAct(outside, 'refusal', about, known))
      .catch((failure: unknown) => {
        if (!(failure instanceof EdgewiseError)) throw failure
        outside.note?.(`the history has no entry of the refusal: ${failure.message}`)
      })
    throw error
  }
}

/**
 * Refuses an action about all writes to who decides by a command.
 *
 * @throws EdgewiseError `not-allowed`
 */
export async function refuseCommand(
  action: Action,
  workspace: Settings,
  outside: Outside,
): Promise<Identity | null> {
  const decider = await findCommandDecider(workspace, outside, action)
  if (decider === null) return null
  const { store } = await openState(workspace, outside)
  const { identity, rules } = decider
  const by = toActor(identity, outside)
  return judgeAttempt({ store, outside, by, about: action }, () => {
    const refusal = explainDecision(identity, action, null, rules)
    if (refusal !== null) throw createRefusal(refusal)
    return identity
  })
}
