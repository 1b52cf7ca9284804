import type { Column, ColumnKind, CoverProblem } from './cover-problem.ts'
import type { RowClass } from './row-classes.ts'

/** Prices of cells, by class, and of columns. */
export interface Duals {
  /** For each class, for each of its cells. */
  cellDuals: Float64Array[]
  columnDuals: Float64Array
  /** How often each column has to be paid; 0 where something can replace it. */
  columnCounts: Float64Array
}

/** For each cell, by class, and each column: the price of the dearest rectangle that has it. */
export interface MaxPrices {
  byCell: Float64Array[]
  byColumn: Float64Array
}

/** Classes that take the columns in hand, and what a row of each pays for them. */
interface Takers {
  classes: number[]
  paid: number[]
}

/** Finds the dearest rectangles among all sets of priced columns that rows share. */
export function findMaxPrices(
  { columns, width }: CoverProblem,
  classes: RowClass[],
  prices: Duals,
): MaxPrices {
  return new Pricing(columns, width, classes, prices).dearest
}

class Pricing {
  readonly dearest: MaxPrices
  readonly #kinds: ColumnKind[]
  readonly #width: number
  readonly #classes: RowClass[]
  readonly #ofColumn: Float64Array
  /** Class → its priced columns, ascending, with what a row pays for each. */
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
    this.#ofColumn = columnDuals
    this.dearest = {
      byCell: cellDuals.map((own) => new Float64Array(own.length)),
      byColumn: new Float64Array(columnDuals.length),
    }
    this.#pay = classes.map((each, i) =>
      [...each.columns]
        .map(([column, cells]) => ({
          column,
          price: cells.reduce((sum, cell) => sum + (cellDuals[i]?.[cell] ?? 0), 0),
        }))
        .filter(({ column, price }) => price > 0 || (columnDuals[column] ?? 0) > 0)
        .toSorted((a, b) => a.column - b.column),
    )
    this.#explore({ classes: [...classes.keys()], paid: classes.map(() => 0) }, 0)
  }

  #explore(takers: Takers, base: number): void {
    const last = this.#chosen.at(-1) ?? -1
    const found = new Map<Column, Takers>()
    for (const [i, index] of takers.classes.entries()) {
      for (const { column, price } of this.#pay[index] ?? []) {
        if (column <= last) continue
        const known = found.get(column) ?? { classes: [], paid: [] }
        if (known.classes.length === 0) found.set(column, known)
        known.classes.push(index)
        known.paid.push((takers.paid[i] ?? 0) + price)
      }
    }
    for (const [column, next] of found) {
      if (!this.#chosen.every((other) => this.#mayMeet(other, column))) continue
      const price = base + (this.#ofColumn[column] ?? 0)
      this.#chosen.push(column)
      this.#raise(next, price)
      this.#explore(next, price)
      this.#chosen.pop()
    }
  }

  /**
   * Notes the dearest rectangle of the columns in hand, for each class the dearest with a row of
   * it.
   */
  #raise({ classes, paid }: Takers, base: number): void {
    const { total, least } = this.#bestRows(classes, paid)
    const { byCell, byColumn } = this.dearest
    for (const column of this.#chosen)
      byColumn[column] = Math.max(byColumn[column] ?? 0, base + total)
    for (const [i, index] of classes.entries()) {
      const price = base + total - Math.max(0, least - (paid[i] ?? 0))
      const own = byCell[index]
      if (own === undefined) continue
      for (const column of this.#chosen) {
        for (const cell of this.#classes[index]?.columns.get(column) ?? []) {
          if ((own[cell] ?? 0) < price) own[cell] = price
        }
      }
    }
  }

  /**
   * Adds up what the best rows of a full rectangle pay; the least of them pays 0 where it has room.
   */
  #bestRows(classes: number[], paid: number[]): { total: number; least: number } {
    const best: number[] = []
    for (const [i, index] of classes.entries()) {
      const price = paid[i] ?? 0
      for (let row = this.#classes[index]?.rows.length ?? 0; row > 0; row--) {
        if (best.length >= this.#width) {
          if (price <= (best.at(-1) ?? 0)) break
          best.pop()
        }
        let place = best.length
        while (place > 0 && (best[place - 1] ?? 0) < price) place--
        best.splice(place, 0, price)
      }
    }
    return {
      total: best.reduce((sum, price) => sum + price, 0),
      least: best.length < this.#width ? 0 : (best.at(-1) ?? 0),
    }
  }

  #mayMeet(a: Column, b: Column): boolean {
    const [one, other] = [this.#kinds[a], this.#kinds[b]]
    return one?.item !== other?.item || (one?.mode === other?.mode && one?.mode !== 0)
  }
}
