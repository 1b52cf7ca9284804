import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  explainUncounted,
  findGiven,
  type ApprovalCase,
  type ApprovalNeeds,
} from '../../core/model/people/approvers.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import { explainRefusal, type Action, type RoleRule } from '../../core/model/people/roles.ts'
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
  const by = rules.sets.reduce((most, { needs }) => Math.max(most, needs.by), 1)
  if (action !== 'approve' || rollout === null) return { by, domains: null }
  const domains = listDomains(action, rollout)
  let counted: string[] | null = null
  for (const each of listCases(domains, rules))
    counted = findGiven(identity, { ...each, domains: counted ?? domains }) ?? counted
  if (counted?.length === 0)
    throw createRefusal(`${identity.name} is an approver of no domain by all rules in force.`)
  return { by, domains: counted }
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
  const notAuthor = sets.some(({ needs }) => needs.notAuthor)
  const by = sets.reduce((most, { needs }) => Math.max(most, needs.by), 1)
  return sets.map(({ roles }) => ({ domains, authors, needs: { by, notAuthor }, rules: roles }))
}

/** Lists the domains that a decision is about: those of the wave, or of all of the rollout. */
function listDomains(action: Action, rollout: Rollout): string[] {
  if (action !== 'approve') return [...listRolloutDomains(rollout)]
  return rollout.waves[findCurrentWave(rollout) ?? 0]?.domains ?? []
}
