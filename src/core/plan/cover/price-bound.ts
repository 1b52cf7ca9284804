import { findMax, addUp } from '../../model/lists.ts'
import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { findMaxPrices, type Duals } from './find-max-prices.ts'
import type { Parallel, TaskKind } from '../../model/parallel.ts'
import { findIrreplaceableColumns, buildRowClasses, type RowClass } from './row-classes.ts'

/** Limits of the work for the bound. */
export interface PriceEffort {
  rounds: number
  /** Maximum number of column sets of a round, counted once for each class that takes them. */
  sets: number
}
/** Maximum number of cells of a class that have a dual. */
const maxDualsPerClass = 9
/**
 * Initial shares of the duals that go to the columns, to be tried; the rest goes to the cells. The
 * best share depends on the problem.
 */
const columnShares = [0, 0.5]

/**
 * Computes a lower bound of the number of rectangles from feasible duals of cells and columns, as
 * `computeDualBound` does, but without a solver, in time that grows with the number of classes.
 *
 * A round divides each dual by the maximum price of a rectangle that contains it. Then no price is
 * over 1, whatever the duals were, and duals that were feasible only rise.
 *
 * @param covers good covers, each for duals of its own; cells of rectangles that cover few cells
 *   start with large duals
 */
export function computePriceBound(
  problem: CoverProblem,
  covers: Rectangle[][],
  effort: PriceEffort,
  parallel: Parallel,
): number {
  if (effort.rounds === 0) return 0
  const tasks = covers.flatMap((cover) =>
    columnShares.map((columnShare) => ({ problem, cover, columnShare, effort })),
  )
  return findMax(parallel.run(scaleToBound, tasks))
}

/** A bound from one share of the duals. */
interface BoundTask {
  problem: CoverProblem
  cover: Rectangle[]
  columnShare: number
  effort: PriceEffort
}

export const scaleToBound: TaskKind<BoundTask, number> = {
  name: 'scale-to-bound',
  minBytes: 50_000,
  run: ({ problem, cover, columnShare, effort: { rounds, sets } }) => {
    const classes = buildRowClasses(problem)
    const maxDuals = countDualsPerClass(classes, sets)
    const duals = computeFirstDuals(problem, classes, cover, columnShare, maxDuals)
    let best = 0
    for (let round = 0; round < rounds && roundUp(best) < cover.length; round++) {
      best = Math.max(best, scaleDuals(problem, classes, duals))
    }
    return roundUp(best)
  },
}

/** Rounds a bound up: covers have whole numbers of rectangles. Allows for the error of sums. */
function roundUp(bound: number): number {
  return Math.ceil(bound * (1 - 1e-9) - 1e-6)
}

/** Divides the price 1 of each rectangle among the cells that it is the first to cover. */
function computeFirstDuals(
  problem: CoverProblem,
  classes: RowClass[],
  cover: Rectangle[],
  columnShare: number,
  maxDuals: number,
): Duals {
  const dual = new Float64Array(problem.cells).fill(-1)
  for (const { rows, columns } of cover) {
    const fresh = new Set(
      rows.flatMap((row) => columns.flatMap((column) => problem.rows[row]?.get(column) ?? [])),
    )
    for (const cell of fresh) if ((dual[cell] ?? 0) >= 0) fresh.delete(cell)
    for (const cell of fresh) dual[cell] = 1 / fresh.size
  }
  const columnCounts = new Float64Array(problem.columns.length)
  // The dual of a column needs room among the duals of every class that takes the column.
  const hasRoom = classes.every(({ columns }) => columns.size <= maxDuals)
  for (const [column, rows] of hasRoom ? findIrreplaceableColumns(classes) : []) {
    columnCounts[column] = Math.ceil(rows / problem.width)
  }
  const columnDuals = new Float64Array(problem.columns.length)
  const cellDuals = classes.map((each) => {
    const own = new Float64Array(each.cells)
    for (const row of each.rows) {
      for (const [column, cells] of each.columns) {
        const outer = problem.rows[row]?.get(column) ?? []
        for (const [i, cell] of cells.entries()) {
          const worth = Math.max(0, dual[outer[i] ?? 0] ?? 0)
          const share = (columnCounts[column] ?? 0) > 0 ? columnShare : 0
          columnDuals[column] =
            (columnDuals[column] ?? 0) + (share * worth) / Math.max(1, columnCounts[column] ?? 0)
          own[cell] = (own[cell] ?? 0) + ((1 - share) * worth) / each.rows.length
        }
      }
    }
    return keepLargest(own, maxDuals)
  })
  return { cellDuals, columnDuals, columnCounts }
}

/** Counts the duals that a class may have, so that there are not too many sets of columns. */
function countDualsPerClass(classes: RowClass[], sets: number): number {
  const countSets = (count: number): number =>
    addUp(classes, ({ columns }) => 2 ** Math.min(columns.size, count))
  let maxDuals = maxDualsPerClass
  while (maxDuals > 1 && countSets(maxDuals) > sets) maxDuals--
  return maxDuals
}

/** Sets all but the largest duals of a class to 0. */
function keepLargest(duals: Float64Array, count: number): Float64Array {
  if (duals.length <= count) return duals
  const smallest = duals.toSorted((a, b) => b - a)[count - 1] ?? 0
  let room = count
  return duals.map((dual) => (dual >= smallest && room-- > 0 ? dual : 0))
}

/** Divides each dual by the maximum price of its rectangles; returns the sum of all duals. */
function scaleDuals(problem: CoverProblem, classes: RowClass[], duals: Duals): number {
  const maxPrices = findMaxPrices(problem, classes, duals)
  let bound = 0
  for (const [i, { rows }] of classes.entries()) {
    const own = duals.cellDuals[i] ?? new Float64Array()
    for (let cell = 0; cell < own.length; cell++) {
      const dual = own[cell] ?? 0
      if (dual === 0) continue
      own[cell] = dual / (maxPrices.byCell[i]?.[cell] ?? 1)
      bound += rows.length * (own[cell] ?? 0)
    }
  }
  for (const [column, count] of duals.columnCounts.entries()) {
    const dual = duals.columnDuals[column] ?? 0
    if (dual === 0) continue
    duals.columnDuals[column] = dual / (maxPrices.byColumn[column] ?? 1)
    bound += count * (duals.columnDuals[column] ?? 0)
  }
  return bound
}
