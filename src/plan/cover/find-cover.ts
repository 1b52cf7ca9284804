import { createRandom } from './create-random.ts'
import { coverLarge, type CoverLargeEffort } from './cover-large.ts'
import { computeCountingBound } from './counting-bound.ts'
import type { CoverProblem, Rectangle, Row } from './cover-problem.ts'
import { computeDualBound, type BoundEffort, type Solver } from './dual-bound.ts'
import { findForcedRectangles } from './forced-rectangles.ts'
import { chunkRows, buildObviousCover, findWholeColumns } from './obvious-covers.ts'
import { cutRows } from './subproblem.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { buildRowClasses } from './row-classes.ts'
import { searchFewer, type SearchEffort } from './search-fewer.ts'
import type { Progress } from './search-large.ts'
import { removeRedundancy } from './remove-redundancy.ts'

/**
 * How much work a cover may be, counted in steps, so that the same problem has the same answer on
 * every machine.
 */
export interface CoverEffort {
  /** What the search of a small cover may take, and of a large one. */
  search: SearchEffort
  large: CoverLargeEffort
  /** The same for their bounds. */
  bound: BoundEffort
  largeBound: PriceEffort
}

/** A cover, and a number of rectangles that none can be under. */
export interface Cover {
  rectangles: Rectangle[]
  bound: number
}

/** A cover that has more rectangles by the obvious ways is a large one. */
const maxSmallCover = 150
/** Problems of up to so many rows are left as they are. */
const searchable = 500

/**
 * Covers all cells with as few rectangles as it finds, and takes out what would be sent twice for
 * nothing. Never more rectangles than it takes to go by equal rows or by columns. The same problem
 * and effort have the same answer.
 *
 * @param solver without one the bound is by counting alone, and the search does not know when it
 * has reached the best
 */
export function findCover(
  problem: CoverProblem,
  effort: CoverEffort,
  solver: Solver | null,
  progress?: Progress,
): Cover {
  const obvious = buildObviousCover(problem)
  const { forced, left } = findForcedRectangles(problem)
  const open = cutRows(problem, left)
  const { full, rest } = fullRectangles(problem, left)
  const core = cutRows(problem, rest)
  const start = buildObviousCover(core.problem)
  const counted = computeCountingBound(open.problem)
  const isLarge = start.length > maxSmallCover
  const known = full.length + start.length
  const isProven = isLarge || known <= counted || solver === null
  const bound = isProven
    ? counted
    : Math.max(counted, computeDualBound(open.problem, known, solver, effort.bound))
  const target = bound - full.length
  const random = createRandom(1)
  const found = isLarge
    ? coverLarge(core.problem, start, target, effort.large, random, progress)
    : searchFewer(core.problem, start, target, effort.search, random)
  const searched = [
    ...toRectangles(problem, full),
    ...found.map((rectangle) => core.toOuter(rectangle)),
  ]
  const priced =
    isLarge && searched.length > bound
      ? computePriceBound(open.problem, searched.map(open.toInner), effort.largeBound)
      : 0
  const cover = [...toRectangles(problem, forced), ...searched]
  const best = cover.length <= obvious.length ? cover : obvious
  return {
    rectangles: removeRedundancy(problem, best),
    bound: forced.length + Math.max(bound, priced),
  }
}

/** Makes rectangles of rows that are equal, with all that they need. */
function toRectangles(problem: CoverProblem, sets: Row[][]): Rectangle[] {
  return sets.map((rows) => ({ rows, columns: findWholeColumns(problem, rows[0] ?? 0) ?? [] }))
}

/**
 * Full rectangles of equal rows, taken out of a large problem before the search: of each class so
 * many that it keeps more rows than one rectangle holds, which is as much as others can use to fill
 * up theirs.
 */
function fullRectangles(problem: CoverProblem, rows: Row[]): { full: Row[][]; rest: Row[] } {
  if (rows.length <= searchable) return { full: [], rest: rows }
  const { width } = problem
  const part = cutRows(problem, rows)
  const full: Row[][] = []
  const rest: Row[] = []
  for (const each of buildRowClasses(part.problem)) {
    const own = each.rows.map((row) => rows[row] ?? 0)
    const taken =
      findWholeColumns(problem, own[0] ?? 0) === null
        ? 0
        : Math.max(0, Math.floor(own.length / width) - 1) * width
    full.push(...chunkRows(own.slice(0, taken), width))
    rest.push(...own.slice(taken))
  }
  return { full, rest: rest.toSorted((a, b) => a - b) }
}
