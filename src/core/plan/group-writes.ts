import type { Write } from '../model/change.ts'
import type { Domain } from '../model/item.ts'
import type { Effort } from '../model/plan.ts'
import {
  type Solver,
  serial,
  splitProgress,
  type Parallel,
  type Progress,
} from '../model/parallel.ts'
import type { CoverProblem } from './cover/cover-problem.ts'
import {
  findCover,
  findSmallCover,
  isLargeProblem,
  type Cover,
  type CoverEffort,
} from './cover/find-cover.ts'
import type { PriceEffort } from './cover/price-bound.ts'
import type { SearchEffort } from './cover/search-cover.ts'
import type { Grouping } from '../model/config.ts'
import type { Need } from './needs.ts'
import { orderWrites } from './order-writes.ts'
import { buildGroupProblems } from './group-problems.ts'

/** Input of the optimiser: the needs, the groups of items, and the limits of a write. */
export interface WriteProblem {
  needs: Need[]
  grouping: Grouping
  domainsPerWrite: number
  effort: Effort
  /** Share of the effort for this part of a larger problem, up to 1. */
  share?: number
  /** Solves the linear programmes of the lower bound; null: the bound is by counting alone. */
  solver: Solver | null
  /** Runs tasks of a large problem at the same time; default: one after the other. */
  parallel?: Parallel
  /** Called regularly during a long search. */
  progress?: Progress
  /** Whether a domain's writes precede those of other domains. */
  isFirst?(domain: Domain): boolean
}

/** Writes that meet every need; those that share a domain are close together. */
export interface WriteSolution {
  writes: Write[]
  /** Proven: no plan for these needs has fewer writes. */
  lowerBound: number
}

/** A small problem needs no bound before the search: the bound of its solver comes first. */
const noBound: PriceEffort = { rounds: 0, sets: 0 }

const coverEfforts: Record<Effort, CoverEffort> = {
  quick: {
    search: {
      starts: 1,
      minGainShare: 1,
      firstBound: noBound,
      search: { stepsPerRectangle: 500, stepsPerPair: 20, maxSteps: 10_000, patience: 1_000 },
    },
    largeSearch: {
      starts: 1,
      minGainShare: 0.8,
      firstBound: noBound,
      search: { stepsPerRectangle: 30, stepsPerPair: 30, maxSteps: 20_000, patience: 2_000 },
    },
    bound: { rounds: 25, steps: 4_000, variables: 600 },
    largeBound: { rounds: 1, sets: 300_000 },
  },
  normal: {
    search: {
      starts: 1,
      minGainShare: 1,
      firstBound: noBound,
      search: { stepsPerRectangle: 10_000, stepsPerPair: 300, maxSteps: 300_000, patience: 5_000 },
    },
    largeSearch: {
      starts: 2,
      minGainShare: 0.97,
      firstBound: { rounds: 1, sets: 1_500_000 },
      search: {
        stepsPerRectangle: 1_000,
        stepsPerPair: 1_000,
        maxSteps: 300_000,
        patience: 20_000,
      },
    },
    bound: { rounds: 60, steps: 20_000, variables: 800 },
    largeBound: { rounds: 10, sets: 1_500_000 },
  },
}

/**
 * Meets all needs with as few writes as it finds, separately for each group of items that may share
 * a write. Never takes more writes than domains with equal patches together, nor than one item at a
 * time. Deterministic, and independent of the order of the needs.
 */
export function groupWrites({
  needs,
  grouping,
  domainsPerWrite,
  effort,
  solver,
  share = 1,
  parallel = serial,
  progress,
  isFirst = () => false,
}: WriteProblem): WriteSolution {
  const scaled = scaleEffort(coverEfforts[effort], share)
  const groupProblems = buildGroupProblems(needs, grouping, domainsPerWrite)
  const covers = findCovers(
    groupProblems.map(({ problem }) => problem),
    (problems, own) =>
      parallel.run(
        findSmallCover,
        problems.map((problem) => ({ problem, effort: scaled })),
        { solver, progress: own },
      ),
    (problem, own) => findCover(problem, scaled, solver, parallel, own),
    progress,
  )
  const parts = groupProblems.flatMap(({ toWrite }, i) =>
    (covers[i]?.rectangles ?? []).map(toWrite),
  )
  const lowerBound = covers.reduce((sum, { bound }) => sum + bound, 0)
  return {
    writes: orderWrites(parts, isFirst).map((write, i) => ({ id: i + 1, wave: 1, ...write })),
    lowerBound,
  }
}

/** Finds a cover of each problem: of the small ones together, of large ones one after the other. */
function findCovers(
  problems: CoverProblem[],
  findSmall: (problems: CoverProblem[], progress: Progress) => Cover[],
  findLarge: (problem: CoverProblem, progress: Progress) => Cover,
  progress: Progress | undefined,
): Cover[] {
  const isLarge = problems.map(isLargeProblem)
  const smallProblems = problems.filter((_, i) => isLarge[i] !== true)
  let step = Math.min(1, smallProblems.length)
  const steps = step + problems.length - smallProblems.length
  const getProgress = splitProgress(progress, steps)
  const small = findSmall(smallProblems, getProgress(0)).values()
  return problems.map((problem, i) => {
    const found = isLarge[i] === true ? undefined : small.next().value
    return found ?? findLarge(problem, getProgress(step++))
  })
}

/** Share of the effort for a whole fleet that its waves together get again. */
const largeShare = 0.2

/** Scales the effort for a part of a problem; a part needs no bound. */
function scaleEffort(effort: CoverEffort, share: number): CoverEffort {
  if (share === 1) return effort
  return {
    ...effort,
    search: scaleSearch(effort.search, share),
    largeSearch: scaleSearch({ ...effort.largeSearch, starts: 1 }, share * largeShare),
    largeBound: noBound,
  }
}

function scaleSearch(effort: SearchEffort, share: number): SearchEffort {
  const { search } = effort
  return { ...effort, search: { ...search, maxSteps: Math.ceil(search.maxSteps * share) } }
}
