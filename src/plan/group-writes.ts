import type { Form, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Effort } from '../model/plan.ts'
import type { Solver } from './cover/dual-bound.ts'
import { findCover, type CoverEffort } from './cover/find-cover.ts'
import type { Grouping } from '../model/config.ts'
import type { Progress } from './cover/search-large.ts'
import type { Need } from './needs.ts'
import { orderWrites } from './order-writes.ts'
import { buildGroupProblems } from './group-problems.ts'

/**
 * What the planner is asked: the needs, how items may be grouped, how many domains a write holds,
 * and what goes first.
 */
export interface WriteProblem {
  needs: Need[]
  grouping: Grouping
  domainsPerWrite: number
  effort: Effort
  /** How much of the effort this part of a larger problem is worth, up to 1. */
  share?: number
  /** Gives the bound its strength; null where counting is enough. */
  solver: Solver | null
  /** Is called now and then during a long search with the steps made and the most there may be. */
  progress?: Progress
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
  quick: {
    search: { stepsPerCell: 20, work: 60_000, totalWork: 300_000 },
    large: {
      enough: 0.8,
      firstBound: { rounds: 0, sets: 0 },
      whole: { stepsPerRectangle: 30, maxSteps: 20_000, patience: 2_000 },
      parts: { size: 80, stepsPerRectangle: 100, rounds: 0, maxParts: 0 },
    },
    bound: { rounds: 25, steps: 4_000, variables: 600 },
    largeBound: { rounds: 1, sets: 300_000 },
  },
  normal: {
    search: { stepsPerCell: 300, work: 2_000_000, totalWork: 4_000_000 },
    large: {
      enough: 0.97,
      firstBound: { rounds: 1, sets: 1_500_000 },
      whole: { stepsPerRectangle: 500, maxSteps: 250_000, patience: 2_000 },
      parts: { size: 80, stepsPerRectangle: 300, rounds: 2, maxParts: 20 },
    },
    bound: { rounds: 60, steps: 20_000, variables: 800 },
    largeBound: { rounds: 10, sets: 1_500_000 },
  },
  thorough: {
    search: { stepsPerCell: 3_000, work: 20_000_000, totalWork: 40_000_000 },
    large: {
      enough: 1,
      firstBound: { rounds: 1, sets: 10_000_000 },
      whole: { stepsPerRectangle: 10_000, maxSteps: 5_000_000, patience: 5_000 },
      parts: { size: 80, stepsPerRectangle: 1_000, rounds: 5, maxParts: 500 },
    },
    bound: { rounds: 400, steps: 100_000, variables: 4_000 },
    largeBound: { rounds: 60, sets: 10_000_000 },
  },
}

/**
 * Meets all needs with as few writes as it finds, for each group of items that may share a write.
 * Never more than domains that are equal in all items take, nor than one item at a time. The same
 * needs, in any order, give the same writes.
 */
export function groupWrites({
  needs,
  grouping,
  domainsPerWrite,
  effort,
  solver,
  share = 1,
  progress,
  isFirst = () => false,
}: WriteProblem): WriteSolution {
  const parts: { domains: Domain[]; items: Record<ItemKey, Form> }[] = []
  let lowerBound = 0
  for (const { problem, toWrite } of buildGroupProblems(needs, grouping, domainsPerWrite)) {
    const { rectangles, bound } = findCover(
      problem,
      shared(coverEfforts[effort], share),
      solver,
      progress,
    )
    parts.push(...rectangles.map(toWrite))
    lowerBound += bound
  }
  return {
    writes: orderWrites(parts, isFirst).map((write, i) => ({ id: i + 1, wave: 1, ...write })),
    lowerBound,
  }
}

/** A fleet is searched as a whole first: its parts together get so much of that effort again. */
const largeShare = 0.4

/** The effort for a part of a problem, whose bound is of no use. */
function shared(effort: CoverEffort, share: number): CoverEffort {
  if (share === 1) return effort
  const { search, large } = effort
  const [work, totalWork] = [search.work, search.totalWork].map((each) => Math.ceil(each * share))
  return {
    ...effort,
    search: { ...search, work: work ?? 0, totalWork: totalWork ?? 0 },
    large: {
      ...large,
      whole: { ...large.whole, maxSteps: Math.ceil(large.whole.maxSteps * share * largeShare) },
      parts: { ...large.parts, maxParts: Math.floor(large.parts.maxParts * share * largeShare) },
    },
    largeBound: { rounds: 0, sets: 0 },
  }
}
