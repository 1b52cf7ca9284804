import type { Form, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Effort } from '../model/plan.ts'
import type { Solver } from './cover/dual-bound.ts'
import { findCover, type CoverEffort } from './cover/find-cover.ts'
import type { Grouping } from './groups.ts'
import type { Need } from './needs.ts'
import { orderWrites } from './order-writes.ts'
import { groupProblems } from './rectangles.ts'

/** What the planner is asked: the needs, how items may be grouped, how many domains a write holds, and what goes first. */
export interface WriteProblem {
  needs: Need[]
  grouping: Grouping
  domainsPerWrite: number
  effort: Effort
  /** Gives the bound its strength; null where counting is enough. */
  solver: Solver | null
  /** Whether a domain's writes stand before those of others. */
  isFirst?(domain: Domain): boolean
}

/** The planner's answer. Every need is met; writes that share a domain stand close together. */
export interface WriteSolution {
  writes: Write[]
  /** No plan for these needs can have fewer writes. */
  lowerBound: number
}

const coverEfforts: Record<Effort, CoverEffort> = {
  quick: { stepsPerCell: 20, steps: 2_000, parts: 15, stepsPerPart: 100, bound: { rounds: 25, steps: 4_000, variables: 600 } },
  normal: { stepsPerCell: 300, steps: 70_000, parts: 60, stepsPerPart: 300, bound: { rounds: 100, steps: 20_000, variables: 1_000 } },
  thorough: {
    stepsPerCell: 3_000,
    steps: 1_000_000,
    parts: 1_000,
    stepsPerPart: 5_000,
    bound: { rounds: 500, steps: 200_000, variables: 10_000 },
  },
}

/**
 * Meets all needs with as few writes as it finds, for each group of items that may share a write. Never more than domains that are equal in all
 * items take, nor than one item at a time. The same needs, in any order, give the same writes.
 */
export function groupWrites({ needs, grouping, domainsPerWrite, effort, solver, isFirst = () => false }: WriteProblem): WriteSolution {
  const parts: { domains: Domain[]; items: Record<ItemKey, Form> }[] = []
  let lowerBound = 0
  for (const { problem, meaning } of groupProblems(needs, grouping, domainsPerWrite)) {
    const { rectangles, bound } = findCover(problem, coverEfforts[effort], solver)
    parts.push(...rectangles.map(meaning))
    lowerBound += bound
  }
  return { writes: orderWrites(parts, isFirst).map((write, i) => ({ id: i + 1, wave: 1, ...write })), lowerBound }
}
