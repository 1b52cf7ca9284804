import { addUp } from '../../model/lists.ts'
import { isCompatible, type Column, type ColumnKind, type CoverProblem } from './cover-problem.ts'
import type { RowClass } from './row-classes.ts'

/** Dual variables of cells, by class, and of columns. */
export interface Duals {
  /** Class → cell → dual. */
  cellDuals: Float64Array[]
  columnDuals: Float64Array
  /** Objective coefficient of each column's dual; 0 for a replaceable column. */
  columnCounts: Float64Array
}

/** Maximum price of a rectangle with a cell, by class, or with a column. */
export interface MaxPrices {
  byCell: Float64Array[]
  byColumn: Float64Array
}

/** Classes that take the current columns, with the sum of a row's duals there. */
interface Takers {
  classes: number[]
  rowPrices: number[]
}

/** Finds the maximum prices by enumerating all sets of columns with duals that rows share. */
export function findMaxPrices(
  { columns, width }: CoverProblem,
  classes: RowClass[],
  prices: Duals,
): MaxPrices {
  return new MaxPriceSearch(columns, width, classes, prices).maxPrices
}

class MaxPriceSearch {
  readonly maxPrices: MaxPrices
  readonly #kinds: ColumnKind[]
  readonly #width: number
  readonly #classes: RowClass[]
  readonly #columnDuals: Float64Array
  /** Class → its columns with duals, ascending, with the sum of a row's duals for each. */
  readonly #pay: { column: Column; price: number }[][]
  readonly #chosen: Column[] = []

  constructor(
    kinds: ColumnKind[],
    width: number,
    classes: RowClass[],
    { cellDuals, columnDuals }: Duals,
  ) {
    this.#kinds = kinds
    this.#width = width
    this.#classes = classes
    this.#columnDuals = columnDuals
    this.maxPrices = {
      byCell: cellDuals.map((own) => new Float64Array(own.length)),
      byColumn: new Float64Array(columnDuals.length),
    }
    this.#pay = classes.map((each, i) =>
      [...each.columns]
        .map(([column, cells]) => ({
          column,
          price: addUp(cells, (cell) => cellDuals[i]?.[cell] ?? 0),
        }))
        .filter(({ column, price }) => price > 0 || (columnDuals[column] ?? 0) > 0)
        .toSorted((a, b) => a.column - b.column),
    )
    this.#explore({ classes: [...classes.keys()], rowPrices: classes.map(() => 0) }, 0)
  }

  #explore(takers: Takers, base: number): void {
    const last = this.#chosen.at(-1) ?? -1
    const found = new Map<Column, Takers>()
    for (const [i, index] of takers.classes.entries()) {
      for (const { column, price } of this.#pay[index] ?? []) {
        if (column <= last) continue
        const known = found.get(column) ?? { classes: [], rowPrices: [] }
        if (known.classes.length === 0) found.set(column, known)
        known.classes.push(index)
        known.rowPrices.push((takers.rowPrices[i] ?? 0) + price)
      }
    }
    for (const [column, next] of found) {
      if (!this.#chosen.every((other) => isCompatible(this.#kinds, other, column))) continue
      const price = base + (this.#columnDuals[column] ?? 0)
      this.#chosen.push(column)
      this.#raise(next, price)
      this.#explore(next, price)
      this.#chosen.pop()
    }
  }

  /** Records the maximum price of the current columns, and for each class that with a row of it. */
  #raise({ classes, rowPrices }: Takers, base: number): void {
    const { total, least } = this.#bestRows(classes, rowPrices)
    const { byCell, byColumn } = this.maxPrices
    for (const column of this.#chosen)
      byColumn[column] = Math.max(byColumn[column] ?? 0, base + total)
    for (const [i, index] of classes.entries()) {
      const price = base + total - Math.max(0, least - (rowPrices[i] ?? 0))
      const own = byCell[index]
      if (own === undefined) continue
      for (const column of this.#chosen) {
        for (const cell of this.#classes[index]?.columns.get(column) ?? []) {
          if ((own[cell] ?? 0) < price) own[cell] = price
        }
      }
    }
  }

  /** Sums the prices of the best rows of a full rectangle; `least` is 0 if there is room. */
  #bestRows(classes: number[], rowPrices: number[]): { total: number; least: number } {
    const best: number[] = []
    for (const [i, index] of classes.entries()) {
      const price = rowPrices[i] ?? 0
      for (let row = this.#classes[index]?.rows.length ?? 0; row > 0; row--) {
        if (best.length >= this.#width) {
          if (price <= (best.at(-1) ?? 0)) break
          best.pop()
        }
        let position = best.length
        while (position > 0 && (best[position - 1] ?? 0) < price) position--
        best.splice(position, 0, price)
      }
    }
    return {
      total: addUp(best),
      least: best.length < this.#width ? 0 : (best.at(-1) ?? 0),
    }
  }
}
