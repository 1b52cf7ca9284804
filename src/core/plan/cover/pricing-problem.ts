import { findMax } from '../../model/lists.ts'
import { isCompatible, type Column, type ColumnKind } from './cover-problem.ts'

/** Dual variables: of the cells of each class, and of the columns of a rectangle. */
export interface Duals {
  /** Class → column → sum of the duals of the cells that the column covers in a row. */
  rowDuals: Map<Column, number>[]
  columnDuals: Float64Array
}

/** A rectangle in classes of rows, and its price: the sum of its duals. */
export interface PricedRectangle {
  /** Class → number of rows. */
  rows: Map<number, number>
  columns: Column[]
  price: number
}

/** Prices up to this are not violations, because of the solver's tolerance. */
const priceTolerance = 1 + 1e-6

interface Branch {
  classes: number[]
  /** Sum of a row's duals for the columns, by class. */
  rowPrices: number[]
  /** Sum of the duals of the columns. */
  base: number
  columns: Column[]
}

/**
 * Solves the pricing problem of column generation: finds rectangles with a price over 1, that is,
 * of negative reduced cost. Branch and bound over the sets of columns that rows share.
 *
 * @param steps maximum number of sets to explore
 * @returns rectangles by descending price, and an upper bound of the price of any rectangle
 */
export function solvePricingProblem(
  { kinds, sizes, width }: { kinds: ColumnKind[]; sizes: number[]; width: number },
  { rowDuals, columnDuals }: Duals,
  steps: number,
): { rectangles: PricedRectangle[]; maxPrice: number } {
  const order = [...new Set(rowDuals.flatMap((columnPrices) => [...columnPrices.keys()]))].toSorted(
    (a, b) => a - b,
  )
  const suffixes = rowDuals.map((columnPrices) =>
    computeSuffixSums(columnPrices, order, columnDuals),
  )
  const rectangles: PricedRectangle[] = []
  let [maxPrice, stepsLeft, bestPrice] = [priceTolerance, steps, priceTolerance]

  /** Sums the prices of the best `width` rows; `getPrice` returns a row's price by class. */
  const sumTopRows = (classes: number[], getPrice: (i: number) => number): number => {
    const sorted = classes.map((_, i) => i).toSorted((a, b) => getPrice(b) - getPrice(a))
    let [sum, room] = [0, width]
    for (const i of sorted) {
      const count = Math.min(room, sizes[classes[i] ?? 0] ?? 0)
      sum += count * getPrice(i)
      room -= count
      if (room === 0) break
    }
    return sum
  }

  const branch = ({ classes, rowPrices, base, columns }: Branch, from: number): void => {
    for (let position = from; position < order.length; position++) {
      const column = order[position] ?? 0
      if (!columns.every((other) => isCompatible(kinds, other, column))) continue
      const child: Branch = {
        classes: [],
        rowPrices: [],
        base: base + (columnDuals[column] ?? 0),
        columns: [...columns, column],
      }
      for (const [i, index] of classes.entries()) {
        const price = rowDuals[index]?.get(column)
        if (price === undefined) continue
        child.classes.push(index)
        child.rowPrices.push((rowPrices[i] ?? 0) + price)
      }
      if (child.classes.length === 0) continue
      const columnBound = findMax(
        child.classes.map((index) => suffixes[index]?.columns[position + 1] ?? 0),
      )
      const bound =
        child.base +
        columnBound +
        sumTopRows(
          child.classes,
          (i) =>
            (child.rowPrices[i] ?? 0) + (suffixes[child.classes[i] ?? 0]?.rows[position + 1] ?? 0),
        )
      if (bound <= priceTolerance + (bestPrice - priceTolerance) / 4) continue
      if (stepsLeft-- <= 0) {
        maxPrice = Math.max(maxPrice, bound)
        continue
      }
      const price = child.base + sumTopRows(child.classes, (i) => child.rowPrices[i] ?? 0)
      if (price > priceTolerance) {
        rectangles.push({ rows: chooseRows(child, sizes, width), columns: child.columns, price })
        bestPrice = Math.max(bestPrice, price)
      }
      branch(child, position + 1)
    }
  }
  branch(
    { classes: sizes.map((_, i) => i), rowPrices: sizes.map(() => 0), base: 0, columns: [] },
    0,
  )
  maxPrice = Math.max(maxPrice, bestPrice)
  return { rectangles: rectangles.toSorted((a, b) => b.price - a.price), maxPrice }
}

/**
 * Sums duals from each position of the order on: those of a row of the class, and of the columns.
 */
function computeSuffixSums(
  columnPrices: Map<Column, number>,
  order: Column[],
  columnDuals: Float64Array,
): { rows: Float64Array; columns: Float64Array } {
  const rows = new Float64Array(order.length + 1)
  const columns = new Float64Array(order.length + 1)
  for (let i = order.length - 1; i >= 0; i--) {
    const price = columnPrices.get(order[i] ?? 0)
    rows[i] = (rows[i + 1] ?? 0) + (price ?? 0)
    columns[i] =
      (columns[i + 1] ?? 0) + (price === undefined ? 0 : (columnDuals[order[i] ?? 0] ?? 0))
  }
  return { rows, columns }
}

function chooseRows(
  { classes, rowPrices }: Branch,
  sizes: number[],
  width: number,
): Map<number, number> {
  const rows = new Map<number, number>()
  let room = width
  for (const i of classes
    .map((_, index) => index)
    .toSorted((a, b) => (rowPrices[b] ?? 0) - (rowPrices[a] ?? 0))) {
    const index = classes[i] ?? 0
    const count = Math.min(room, sizes[index] ?? 0)
    if (count > 0) rows.set(index, count)
    room -= count
  }
  return rows
}
