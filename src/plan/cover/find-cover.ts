import { append } from '../../model/append.ts'
import { createRandom } from './create-random.ts'
import { coverLarge, type CoverLargeEffort } from './cover-large.ts'
import { computeCountingBound } from './counting-bound.ts'
import type { CoverProblem, Rectangle, Row } from './cover-problem.ts'
import { computeDualBound, type BoundEffort } from './dual-bound.ts'
import { findForcedRectangles } from './forced-rectangles.ts'
import { chunkRows, buildObviousCover, findWholeColumns } from './obvious-covers.ts'
import { cutRows } from './subproblem.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { buildRowClasses } from './row-classes.ts'
import { searchFewer, type SearchEffort } from './search-fewer.ts'
import type { Solver } from '../../model/solver.ts'
import { serial, type Parallel, type Progress, type TaskKind } from '../../model/parallel.ts'
import { removeRedundancy } from './remove-redundancy.ts'

/**
 * Limits of the work for a cover, in steps and not in time, so that the result is deterministic.
 */
export interface CoverEffort {
  /** Search of a small cover, and of a large one. */
  search: SearchEffort
  large: CoverLargeEffort
  /** Bound of a small cover, and of a large one. */
  bound: BoundEffort
  largeBound: PriceEffort
}

/** A cover, and a proven lower bound of the number of rectangles. */
export interface Cover {
  rectangles: Rectangle[]
  bound: number
}

/** Maximum size of the obvious cover of a small problem. */
const maxSmallCover = 150
/** Maximum number of rows of a problem that is searched without taking full rectangles out. */
const maxSearchedRows = 500

/**
 * Covers all cells with as few rectangles as it finds, and removes redundant rows and columns of
 * them. Never takes more rectangles than the obvious covers. Deterministic.
 *
 * @param solver null: the bound is by counting alone, and the search may go on after the optimum
 */
export function findCover(
  problem: CoverProblem,
  effort: CoverEffort,
  solver: Solver | null,
  parallel: Parallel = serial,
  progress?: Progress,
): Cover {
  const obvious = buildObviousCover(problem)
  const { forced, left } = findForcedRectangles(problem)
  const remaining = cutRows(problem, left)
  const { full, rest } = splitFullRectangles(problem, left)
  const core = cutRows(problem, rest)
  const start = buildObviousCover(core.problem)
  const counted = computeCountingBound(remaining.problem)
  const isLarge = start.length > maxSmallCover
  const known = full.length + start.length
  const skipsDualBound = isLarge || known <= counted || solver === null
  const bound = skipsDualBound
    ? counted
    : Math.max(counted, computeDualBound(remaining.problem, known, solver, effort.bound))
  const target = bound - full.length
  const { cover: found, start: first } = isLarge
    ? coverLarge(core.problem, start, target, effort.large, parallel, progress)
    : searchSmall(core.problem, start, target, effort.search)
  const join = (rectangles: Rectangle[]): Rectangle[] => [
    ...buildRectangles(problem, full),
    ...rectangles.map((rectangle) => core.toOuter(rectangle)),
  ]
  const searched = join(found)
  // The greedy cover gives better duals for some fleets, and the searched one for others.
  const priced =
    isLarge && searched.length > bound
      ? computePriceBound(
          remaining.problem,
          [first, found].map((each) => join(each).map(remaining.toInner)),
          effort.largeBound,
          parallel,
        )
      : 0
  const cover = [...buildRectangles(problem, forced), ...searched]
  const best = cover.length <= obvious.length ? cover : obvious
  return {
    rectangles: removeRedundancy(problem, best),
    bound: forced.length + Math.max(bound, priced),
  }
}

function searchSmall(
  problem: CoverProblem,
  start: Rectangle[],
  target: number,
  effort: SearchEffort,
): { cover: Rectangle[]; start: Rectangle[] } {
  return { cover: searchFewer(problem, start, target, effort, createRandom(1)), start }
}

/** Whether the cover takes long enough to have tasks of its own. */
export function isLargeProblem(problem: CoverProblem): boolean {
  return buildObviousCover(problem).length > maxSmallCover
}

interface CoverTask {
  problem: CoverProblem
  effort: CoverEffort
}

/** Finds covers of small problems, which take long for their size. */
export const findSmallCover: TaskKind<CoverTask, Cover> = {
  name: 'find-small-cover',
  minBytes: 4_000,
  run: ({ problem, effort }, { solver, progress }) =>
    findCover(problem, effort, solver, serial, progress),
}

/** Builds a rectangle of each set of equal rows, with all columns that they need. */
function buildRectangles(problem: CoverProblem, sets: Row[][]): Rectangle[] {
  return sets.map((rows) => ({ rows, columns: findWholeColumns(problem, rows[0] ?? 0) ?? [] }))
}

/**
 * Splits full rectangles of equal rows off a large problem before the search. At least one more
 * rectangle of rows is left of each class, since others can use no more to fill up theirs.
 */
function splitFullRectangles(problem: CoverProblem, rows: Row[]): { full: Row[][]; rest: Row[] } {
  if (rows.length <= maxSearchedRows) return { full: [], rest: rows }
  const { width } = problem
  const part = cutRows(problem, rows)
  const full: Row[][] = []
  const rest: Row[] = []
  for (const each of buildRowClasses(part.problem)) {
    const own = each.rows.map((row) => rows[row] ?? 0)
    const count =
      findWholeColumns(problem, own[0] ?? 0) === null
        ? 0
        : Math.max(0, Math.floor(own.length / width) - 1) * width
    append(full, chunkRows(own.slice(0, count), width))
    append(rest, own.slice(count))
  }
  return { full, rest: rest.toSorted((a, b) => a - b) }
}
