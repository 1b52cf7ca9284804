import { append, splitIntoChunks, groupByEach } from '../../model/lists.ts'
import { computeCountingBound, computeDualBound, type BoundEffort } from './dual-bound.ts'
import type { CoverProblem, Rectangle, Row, Cell, Column } from './cover-problem.ts'
import { buildObviousCover, findWholeColumns } from './obvious-covers.ts'
import { cutRows } from './subproblem.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { buildRowClasses, countCoveringColumns } from './row-classes.ts'
import { searchCover, type SearchEffort } from './search-cover.ts'
import {
  type Solver,
  serial,
  type Parallel,
  type Progress,
  type TaskKind,
} from '../../model/parallel.ts'

/**
 * Limits of the work for a cover, in steps and not in time, so that the result is deterministic.
 */
export interface CoverEffort {
  /** Search of a small cover, and of a large one. */
  search: SearchEffort
  largeSearch: SearchEffort
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
  const search = isLarge ? effort.largeSearch : effort.search
  const searched = searchCover(core.problem, start, target, search, parallel, progress)
  const join = (rectangles: Rectangle[]): Rectangle[] => [
    ...buildRectangles(problem, full),
    ...rectangles.map((rectangle) => core.toOuter(rectangle)),
  ]
  const found = join(searched.cover)
  // The greedy cover gives better duals for some fleets, and the searched one for others.
  const priced =
    isLarge && found.length > bound
      ? computePriceBound(
          remaining.problem,
          [join(searched.start), found].map((each) => each.map(remaining.toInner)),
          effort.largeBound,
          parallel,
        )
      : 0
  const cover = [...buildRectangles(problem, forced), ...found]
  const best = cover.length <= obvious.length ? cover : obvious
  return {
    rectangles: removeRedundancy(problem, best),
    bound: forced.length + Math.max(bound, priced),
  }
}

/** Tests whether the cover takes long enough to have tasks of its own. */
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
    append(full, splitIntoChunks(own.slice(0, count), width))
    append(rest, own.slice(count))
  }
  return { full, rest: rest.toSorted((a, b) => a - b) }
}

/**
 * Finds rectangles that are part of some optimal cover. If one class of rows is the only one with
 * an irreplaceable column, the rectangles of that column have no other rows and may have all
 * columns of the class. They cover the class, which may leave another column to a single class.
 *
 * @returns the rows of these rectangles, each of one class, and the remaining rows
 */
function findForcedRectangles(problem: CoverProblem): { forced: Row[][]; left: Row[] } {
  const classes = buildRowClasses(problem).map(({ rows, columns }) => ({
    rows,
    columns: [...columns.keys()],
    soleColumns: findWholeColumns(problem, rows[0] ?? 0) === null ? [] : findSoleColumns(columns),
  }))
  const classesByColumn = groupByEach(classes.keys(), (i) => classes[i]?.columns ?? [])
  const takers = new Map([...classesByColumn].map(([column, own]) => [column, new Set(own)]))
  const covered = new Set<number>()
  const queue = classes.map((_, i) => i)
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    const own = classes[i]
    if (
      own === undefined ||
      covered.has(i) ||
      !own.soleColumns.some((column) => takers.get(column)?.size === 1)
    )
      continue
    covered.add(i)
    for (const column of own.columns) {
      const others = takers.get(column)
      others?.delete(i)
      if (others?.size === 1) append(queue, others)
    }
  }
  return {
    forced: classes.flatMap(({ rows }, i) =>
      covered.has(i) ? splitIntoChunks(rows, problem.width) : [],
    ),
    left: classes.flatMap(({ rows }, i) => (covered.has(i) ? [] : rows)).toSorted((a, b) => a - b),
  }
}

/** Finds the columns that are the only one for some cell. */
function findSoleColumns(columns: Map<Column, Cell[]>): Column[] {
  const coveringColumns = countCoveringColumns(columns)
  return [...columns].flatMap(([column, cells]) =>
    cells.some((cell) => coveringColumns.get(cell) === 1) ? [column] : [],
  )
}

/**
 *  * Removes rows and columns of rectangles whose cells other rectangles cover too, those that save
 * most first, so that little is sent twice. The result covers the same cells.
 */
function removeRedundancy(problem: CoverProblem, rectangles: Rectangle[]): Rectangle[] {
  const count = countCoverage(problem, rectangles)
  return rectangles.flatMap((rectangle) => {
    let { rows, columns } = rectangle
    const isRedundant = (row: Row, column: Column): boolean =>
      getCells(problem, row, column).every((cell) => (count[cell] ?? 0) > 1)
    const release = (droppedRows: Row[], droppedColumns: Column[]): void => {
      for (const row of droppedRows)
        for (const column of droppedColumns)
          for (const cell of getCells(problem, row, column)) count[cell] = (count[cell] ?? 0) - 1
    }
    for (;;) {
      const row = rows.find((each) => columns.every((column) => isRedundant(each, column)))
      const column = columns.find((each) => rows.every((other) => isRedundant(other, each)))
      if (row === undefined && column === undefined) break
      if (column === undefined || (row !== undefined && columns.length >= rows.length)) {
        release([row ?? 0], columns)
        rows = rows.filter((each) => each !== row)
      } else {
        release(rows, [column])
        columns = columns.filter((each) => each !== column)
      }
    }
    return rows.length > 0 && columns.length > 0 ? [{ rows, columns }] : []
  })
}

/** Counts for each cell the rectangles that cover it. */
export function countCoverage(problem: CoverProblem, rectangles: Rectangle[]): Int32Array {
  const count = new Int32Array(problem.cells)
  for (const { rows, columns } of rectangles) {
    for (const row of rows)
      for (const column of columns)
        for (const cell of getCells(problem, row, column)) count[cell] = (count[cell] ?? 0) + 1
  }
  return count
}

function getCells(problem: CoverProblem, row: Row, column: Column): number[] {
  return problem.rows[row]?.get(column) ?? []
}
