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

/** Rules of a decision, all of which count; `source`: where some are from, if not in force. */
export interface DecisionRules {
  sets: (Rules & { source?: string | undefined })[]
  authors: Authors
  /** Sentence about them, beside a refusal. */
  note?: string | undefined
}

/** Explains why somebody may not do something, in a sentence; null if it is allowed. */
export function explainDecision(
  identity: Identity,
  action: Action,
  rollout: Rollout | null,
  rules: DecisionRules,
): string | null {
  const domains = rollout === null ? [] : listDomains(action, rollout)
  for (const { roles, source } of rules.sets) {
    const refusal = explainRefusal(identity, action, domains, roles, source)
    if (refusal !== null) return refusal
  }
  if (action !== 'approve' || rollout === null) return null
  const wave = findCurrentWave(rollout) ?? 0
  const given = isApproved(rollout, wave) ? [] : listGiven(rollout, wave)
  const reason = explainUncounted(identity, rules.authors, joinRules(rules), given)
  return reason && [reason, rules.note ?? []].flat().join(' ')
}

const joinRules = ({ sets }: DecisionRules) => joinNeeds(sets.map(({ needs }) => needs))

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
  const { by } = joinRules(rules)
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
