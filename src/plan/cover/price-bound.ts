import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { findMaxPrices, type Duals } from './find-max-prices.ts'
import { findIrreplaceableColumns, buildRowClasses, type RowClass } from './row-classes.ts'

/** How much work the bound may be. */
export interface PriceEffort {
  rounds: number
  /** Sets of columns gone through in a round, counted once for each class that takes them. */
  sets: number
}
/** The most columns of a class that have a price. */
const maxPriced = 9
/**
 * Shares of the prices that start with the columns; the rest starts with the cells. The best of
 * them depends on how often columns are rare.
 */
const columnShares = [0, 0.5]

/**
 * Counts rectangles that no cover can be under, by prices for cells and for columns: where no
 * possible rectangle costs over 1, a cover has as many rectangles as all prices add up to. A column
 * of n rows that nothing can replace is paid ⌈n / width⌉ times.
 *
 * Each price is divided by that of the dearest rectangle it is part of. Whatever the prices were,
 * then no rectangle costs over 1; and prices that were right before only rise. So that is done
 * again and again, without a solver, in time that grows with the number of classes.
 *
 * @param cover a good cover: cells whose rectangles cover few are dear at first
 */
export function computePriceBound(
  problem: CoverProblem,
  cover: Rectangle[],
  { rounds, sets }: PriceEffort,
): number {
  const classes = buildRowClasses(problem)
  const priced = countPriced(classes, sets)
  let best = 0
  for (const share of columnShares) {
    const prices = firstPrices(problem, classes, cover, share, priced)
    for (let round = 0; round < rounds && toWhole(best) < cover.length; round++) {
      best = Math.max(best, settle(problem, classes, prices))
    }
  }
  return toWhole(best)
}

/** Covers have whole numbers of rectangles; sums of prices have an error. */
function toWhole(bound: number): number {
  return Math.ceil(bound * (1 - 1e-9) - 1e-6)
}

/** Shares the price of each rectangle, 1, among the cells that it is the first to cover. */
function firstPrices(
  problem: CoverProblem,
  classes: RowClass[],
  cover: Rectangle[],
  columnShare: number,
  priced: number,
): Duals {
  const price = new Float64Array(problem.cells).fill(-1)
  for (const { rows, columns } of cover) {
    const fresh = new Set(
      rows.flatMap((row) => columns.flatMap((column) => problem.rows[row]?.get(column) ?? [])),
    )
    for (const cell of fresh) if ((price[cell] ?? 0) >= 0) fresh.delete(cell)
    for (const cell of fresh) price[cell] = 1 / fresh.size
  }
  const columnCounts = new Float64Array(problem.columns.length)
  // A price for a column holds for all classes that take it: they must be able to bear it.
  const bearable = classes.every(({ columns }) => columns.size <= priced)
  for (const [column, rows] of bearable ? findIrreplaceableColumns(classes) : []) {
    columnCounts[column] = Math.ceil(rows / problem.width)
  }
  const columnDuals = new Float64Array(problem.columns.length)
  const cellDuals = classes.map((each) => {
    const own = new Float64Array(each.cells)
    for (const row of each.rows) {
      for (const [column, cells] of each.columns) {
        const outer = problem.rows[row]?.get(column) ?? []
        for (const [i, cell] of cells.entries()) {
          const worth = Math.max(0, price[outer[i] ?? 0] ?? 0)
          const share = (columnCounts[column] ?? 0) > 0 ? columnShare : 0
          columnDuals[column] =
            (columnDuals[column] ?? 0) + (share * worth) / Math.max(1, columnCounts[column] ?? 0)
          own[cell] = (own[cell] ?? 0) + ((1 - share) * worth) / each.rows.length
        }
      }
    }
    return keepDearest(own, priced)
  })
  return { cellDuals, columnDuals, columnCounts }
}

/**
 * Counts the columns of a class that may have a price, so that there are not too many sets of them.
 */
function countPriced(classes: RowClass[], sets: number): number {
  const allSets = (priced: number): number =>
    classes.reduce((sum, { columns }) => sum + 2 ** Math.min(columns.size, priced), 0)
  let priced = maxPriced
  while (priced > 1 && allSets(priced) > sets) priced--
  return priced
}

/** Sets all but the dearest cells of a class to 0. */
function keepDearest(prices: Float64Array, count: number): Float64Array {
  if (prices.length <= count) return prices
  const least = prices.toSorted((a, b) => b - a)[count - 1] ?? 0
  let room = count
  return prices.map((price) => (price >= least && room-- > 0 ? price : 0))
}

/**
 * Divides all prices by that of the dearest rectangle they are part of; returns what they add up
 * to.
 */
function settle(problem: CoverProblem, classes: RowClass[], prices: Duals): number {
  const dearest = findMaxPrices(problem, classes, prices)
  let bound = 0
  for (const [i, { rows }] of classes.entries()) {
    const own = prices.cellDuals[i] ?? new Float64Array()
    for (let cell = 0; cell < own.length; cell++) {
      const price = own[cell] ?? 0
      if (price === 0) continue
      own[cell] = price / (dearest.byCell[i]?.[cell] ?? 1)
      bound += rows.length * (own[cell] ?? 0)
    }
  }
  for (const [column, times] of prices.columnCounts.entries()) {
    const price = prices.columnDuals[column] ?? 0
    if (price === 0) continue
    prices.columnDuals[column] = price / (dearest.byColumn[column] ?? 1)
    bound += times * (prices.columnDuals[column] ?? 0)
  }
  return bound
}
