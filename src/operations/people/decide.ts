import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  explainUncounted,
  findGiven,
  joinNeeds,
  type ApprovalCase,
  type ApprovalNeeds,
} from '../../core/model/people/approvers.ts'
import { describeIdentity, type Identity } from '../../core/model/people/identity.ts'
import {
  explainRefusal,
  listApprovable,
  nameSome,
  type Action,
  type RoleRule,
} from '../../core/model/people/roles.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { listGiven } from '../../engine/rollout/approvals.ts'
import type { ApprovalWeight } from '../../engine/rollout/decide.ts'
import { listRolloutDomains } from '../../state/store/spans.ts'

/** Rules of one workspace file. */
export interface Rules {
  roles: RoleRule[]
  needs: ApprovalNeeds
}

/** Rules of a decision, all of which count. */
export interface DecisionRules {
  sets: Rules[]
  /** Addresses of those who wrote the change; null if they are not known. */
  authors: ReadonlySet<string> | null
}

/** Explains why somebody may not do something, in a sentence; null if it is allowed. */
export function explainDecision(
  identity: Identity,
  action: Action,
  rollout: Rollout | null,
  rules: DecisionRules,
): string | null {
  const domains = rollout === null ? [] : listDomains(action, rollout)
  for (const { roles } of rules.sets) {
    const refusal = explainRefusal(identity, action, domains, roles)
    if (refusal !== null) return refusal
  }
  if (action !== 'approve' || rollout === null) return null
  const given = listGiven(rollout, findCurrentWave(rollout) ?? 0)
  for (const each of listCases(domains, rules)) {
    const reason = explainUncounted(identity, each, given)
    if (reason !== null) return reason
  }
  return null
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
  const { by } = joinNeeds(rules.sets.map(({ needs }) => needs))
  if (action !== 'approve' || rollout === null) return { by, domains: null }
  const domains = listDomains(action, rollout)
  let counted: string[] | null = null
  for (const each of listCases(domains, rules))
    counted = findGiven(identity, { ...each, domains: counted ?? domains }) ?? counted
  if (counted?.length === 0)
    throw createRefusal(`${identity.name} is an approver of no domain by all rules in force.`)
  return { by, domains: counted }
}

/**
 * Explains why somebody may not approve a saved plan, in a sentence; null if it is allowed. That
 * takes an approver of each of its domains, by all rules.
 */
export function explainPlanApproval(
  identity: Identity,
  domains: readonly string[],
  sets: readonly Rules[],
): string | null {
  if (identity.knownBy === 'token')
    return "The token shows nobody's name, so it may not approve a saved plan."
  for (const { roles } of sets) {
    if (roles.length === 0) return 'edgewise.yaml has no roles, so nobody may approve a saved plan.'
    const refusal = explainRefusal(identity, 'approve', domains, roles)
    if (refusal !== null) return refusal
    const covered = new Set(listApprovable(identity, domains, roles))
    const left = domains.filter((domain) => !covered.has(domain))
    const needs = `may not approve the plan: that needs the role approver for ${nameSome(left)}.`
    if (left.length > 0) return `${describeIdentity(identity)} ${needs}`
  }
  return null
}

/** Creates the error of what somebody may not do. */
export function createRefusal(reason: string): EdgewiseError {
  return new EdgewiseError(
    'not-allowed',
    reason,
    'Nothing was decided. "roles" in edgewise.yaml of the followed branch says who may.',
  )
}

function listCases(domains: string[], { sets, authors }: DecisionRules): ApprovalCase[] {
  const needs = joinNeeds(sets.map((each) => each.needs))
  return sets.map(({ roles }) => ({ domains, authors, needs, rules: roles }))
}

/** Lists the domains that a decision is about: those of the wave, or of all of the rollout. */
function listDomains(action: Action, rollout: Rollout): string[] {
  if (action !== 'approve') return [...listRolloutDomains(rollout)]
  return rollout.waves[findCurrentWave(rollout) ?? 0]?.domains ?? []
}
