import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  explainUncounted,
  joinNeeds,
  type ApprovalNeeds,
  type Authors,
} from '../../core/model/people/approvers.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import {
  explainRefusal,
  listApprovable,
  type Action,
  type RoleRule,
} from '../../core/model/people/roles.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { isApproved, listGiven } from '../../engine/rollout/approvals.ts'
import type { ApprovalWeight } from '../../engine/rollout/decide.ts'
import { listRolloutDomains } from '../../state/store/spans.ts'

/** Rules of one workspace file. */
export interface Rules {
  roles: RoleRule[]
  needs: ApprovalNeeds
}

/**
 * Rules that count for a decision. `before`: those of the commit before the rollout's own. `first`:
 * those of its own, since no commit that was applied before had roles.
 */
type CountedRules = Rules & { from?: 'before' | 'first' }

/** Rules of a decision, all of which count. */
export interface DecisionRules {
  sets: CountedRules[]
  authors: Authors
}

/** Explains why somebody may not do something, in a sentence; null if it is allowed. */
export function explainDecision(
  identity: Identity,
  action: Action,
  rollout: Rollout | null,
  rules: DecisionRules,
): string | null {
  const domains = rollout === null ? [] : listDomains(action, rollout)
  for (const { roles, from } of rules.sets) {
    const source = from === 'before' ? "the commit before the rollout's own" : undefined
    const refusal = explainRefusal(identity, action, domains, roles, source)
    if (refusal !== null) return refusal
  }
  if (action !== 'approve' || rollout === null) return null
  const wave = findCurrentWave(rollout) ?? 0
  const given = isApproved(rollout, wave) ? [] : listGiven(rollout, wave)
  const reason = explainUncounted(identity, rules.authors, findNeeds(identity, rules), given)
  const isFirst = rules.sets.some(({ from }) => from === 'first')
  return reason === null || !isFirst ? reason : `${reason} ${firstNote}`
}

/** Note about a rollout whose commit is the first one with roles. */
const firstNote =
  'No commit that was applied before had roles: the first ones count here, but not for its authors.'

/**
 * Finds what an approval of somebody takes. Where the commit before has no roles only the token
 * decides, which is one; where the own roles count, its authors do not.
 */
function findNeeds({ knownBy }: Identity, { sets }: DecisionRules): ApprovalNeeds {
  const needs = joinNeeds(sets.map((each) => each.needs))
  if (knownBy !== 'token')
    return sets.some(({ from }) => from === 'first') ? { ...needs, notAuthor: true } : needs
  const isAlone = sets.some(({ from, roles }) => from === 'before' && roles.length === 0)
  return isAlone ? { by: 1, notAuthor: false } : needs
}

/**
 * Weighs an approval of somebody by all rules: it counts for the domains that each of them allows.
 *
 * @throws EdgewiseError `not-allowed`
 */
export function weighDecision(
  identity: Identity,
  action: Action,
  rollout: Rollout | null,
  rules: DecisionRules,
): ApprovalWeight {
  const refusal = explainDecision(identity, action, rollout, rules)
  if (refusal !== null) throw createRefusal(refusal)
  const { by } = findNeeds(identity, rules)
  if (action !== 'approve' || rollout === null) return { by, domains: null }
  const domains = listDomains(action, rollout)
  const counted = rules.sets.reduce(
    (left, { roles }) => listApprovable(identity, left, roles),
    domains,
  )
  if (counted.length === 0 && domains.length > 0)
    throw createRefusal(`${identity.name} is an approver of no domain by all rules in force.`)
  return { by, domains: counted.length === domains.length ? null : counted }
}

/** Creates the error of what somebody may not do. */
export function createRefusal(reason: string): EdgewiseError {
  return new EdgewiseError(
    'not-allowed',
    reason,
    'Nothing was decided. "roles" in edgewise.yaml of the followed branch says who may.',
  )
}

/** Lists the domains that a decision is about: those of the wave, or of all of the rollout. */
function listDomains(action: Action, rollout: Rollout): string[] {
  if (action !== 'approve') return [...listRolloutDomains(rollout)]
  return rollout.waves[findCurrentWave(rollout) ?? 0]?.domains ?? []
}
