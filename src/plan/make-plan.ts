import type { Action, Change } from '../model/change.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Snapshot } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { hashes } from './basis.ts'
import { disproof } from './disproof.ts'
import { groupWrites } from './group-writes.ts'
import type { Grouping } from './groups.ts'
import { lowerBound } from './lower-bound.ts'
import { needsOf } from './needs.ts'
import { warningsOf } from './warnings.ts'

/** What a plan is made from. */
export interface PlanInput {
  recorded: Snapshot
  desired: Snapshot
  /** What parts the two, and how many items are equal in both. */
  changes: Change[]
  unchanged: number
  grouping: Grouping
  limits: { domainsPerWrite: number; callsPerMinute: number }
  target: string[]
  items: string[]
  commit: string | null
}

/**
 * The plan that carries out the changes. The same input gives the same plan, byte for byte.
 *
 * @throws EdgewiseError `plan-unproven` when folding the writes over the record does not give what is desired.
 */
export function makePlan(input: PlanInput): Plan {
  const { recorded, desired, changes, grouping, limits } = input
  const problem = { needs: needsOf(changes, recorded), grouping, domainsPerWrite: limits.domainsPerWrite }
  const { writes } = groupWrites(problem)
  const fault = disproof(changes, writes, recorded)
  if (fault !== null) {
    throw new EdgewiseError(
      'plan-unproven',
      `the plan does not prove itself: ${fault}`,
      'Nothing was sent. This is a defect of edgewise; please report it.',
    )
  }
  const domains = [...new Set(changes.map((change) => change.domain))]
  return {
    changes,
    writes,
    summary: {
      domains: domains.length,
      ...counts(changes),
      unchanged: input.unchanged,
      held: 0,
      writes: writes.length,
      lowerBound: lowerBound(problem),
      seconds: 60 * Math.max(0, Math.ceil(writes.length / limits.callsPerMinute) - 1),
    },
    basis: {
      desired: hashes(desired, domains),
      recorded: hashes(recorded, domains),
      target: input.target,
      items: input.items,
      commit: input.commit,
    },
    warnings: warningsOf(changes, recorded, desired),
  }
}

function counts(changes: Change[]): Record<Action, number> {
  const count = { set: 0, change: 0, unset: 0, release: 0 }
  for (const change of changes) count[change.action]++
  return count
}
