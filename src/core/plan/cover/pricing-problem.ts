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

/** A set of columns, and the classes of rows that share it. */
interface Branch {
  classes: number[]
  /** Sum of a row's duals for the columns, by class. */
  rowPrices: number[]
  /** Sum of the duals of the columns. */
  base: number
  columns: Column[]
}

/** Rows and columns to price: kinds of the columns, sizes of the classes, and rows of a write. */
interface PricingInput {
  kinds: ColumnKind[]
  sizes: number[]
  width: number
}

/**
 * Solves the pricing problem of column generation: finds rectangles with a price over 1, that is,
 * of negative reduced cost. Branch and bound over the sets of columns that rows share.
 *
 * @param steps maximum number of sets to explore
 * @returns rectangles by descending price, and an upper bound of the price of any rectangle
 */
export function solvePricingProblem(
  input: PricingInput,
  duals: Duals,
  steps: number,
): { rectangles: PricedRectangle[]; maxPrice: number } {
  const { sizes } = input
  const search = new PricingSearch(input, duals, steps)
  search.explore(
    { classes: sizes.map((_, i) => i), rowPrices: sizes.map(() => 0), base: 0, columns: [] },
    0,
  )
  const maxPrice = Math.max(search.maxPrice, search.bestPrice)
  return { rectangles: search.rectangles.toSorted((a, b) => b.price - a.price), maxPrice }
}

/** Branch and bound: the rectangles found, and the prices of those that may be left. */
class PricingSearch {
  readonly rectangles: PricedRectangle[] = []
  /** Upper bound of the price of the sets that were not explored. */
  maxPrice = priceTolerance
  bestPrice = priceTolerance
  readonly #input: PricingInput
  readonly #duals: Duals
  /** Columns with a dual, ascending. */
  readonly #order: Column[]
  readonly #suffixes: ReturnType<typeof computeSuffixSums>[]
  #stepsLeft: number

  constructor(input: PricingInput, duals: Duals, steps: number) {
    this.#input = input
    this.#duals = duals
    const { rowDuals, columnDuals } = duals
    const order = [...new Set(rowDuals.flatMap((prices) => [...prices.keys()]))]
    this.#order = order.toSorted((a, b) => a - b)
    this.#suffixes = rowDuals.map((prices) => computeSuffixSums(prices, this.#order, columnDuals))
    this.#stepsLeft = steps
  }

  /** Explores the sets that add columns of the order, from a position on, to those of a branch. */
  explore(branch: Branch, from: number): void {
    for (let position = from; position < this.#order.length; position++) {
      const child = this.#addColumn(branch, this.#order[position] ?? 0)
      if (child === null) continue
      const bound = this.#computeBound(child, position + 1)
      if (bound <= priceTolerance + (this.bestPrice - priceTolerance) / 4) continue
      if (this.#stepsLeft-- <= 0) {
        this.maxPrice = Math.max(this.maxPrice, bound)
        continue
      }
      this.#addRectangle(child)
      this.explore(child, position + 1)
    }
  }

  /** Adds a column to a branch; null if it is not compatible, or no class has it. */
  #addColumn({ classes, rowPrices, base, columns }: Branch, column: Column): Branch | null {
    const { kinds } = this.#input
    if (!columns.every((other) => isCompatible(kinds, other, column))) return null
    const { rowDuals, columnDuals } = this.#duals
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
    return child.classes.length === 0 ? null : child
  }

  /** Computes the maximum price with any of the columns from a position on. */
  #computeBound({ classes, rowPrices, base }: Branch, from: number): number {
    const suffixes = this.#suffixes
    const columnBound = findMax(classes.map((index) => suffixes[index]?.columns[from] ?? 0))
    const getPrice = (i: number) =>
      (rowPrices[i] ?? 0) + (suffixes[classes[i] ?? 0]?.rows[from] ?? 0)
    return base + columnBound + sumTopRows(classes, this.#input, getPrice)
  }

  /** Adds the rectangle of a branch if its price is a violation. */
  #addRectangle(branch: Branch): void {
    const { classes, rowPrices, base, columns } = branch
    const price = base + sumTopRows(classes, this.#input, (i) => rowPrices[i] ?? 0)
    if (price <= priceTolerance) return
    this.rectangles.push({ rows: chooseRows(branch, this.#input), columns, price })
    this.bestPrice = Math.max(this.bestPrice, price)
  }
}

/** Sums the prices of the best `width` rows; `getPrice` returns a row's price by class. */
function sumTopRows(
  classes: number[],
  { sizes, width }: PricingInput,
  getPrice: (i: number) => number,
): number {
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
  { sizes, width }: PricingInput,
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
