import type { Column, ColumnKind } from './cover-problem.ts'

/**
 * Prices: what each class of rows pays for a cell, and what a rectangle pays for having a column at
 * all.
 */
export interface Duals {
  /** For each class and column what one row of the class pays by it. */
  rowDuals: Map<Column, number>[]
  columnDuals: Float64Array
}

/** A rectangle in classes of rows, and what its cells are worth at the prices asked for. */
export interface PricedRectangle {
  /** How many rows of each class. */
  rows: Map<number, number>
  columns: Column[]
  price: number
}

/**
 * Prices come from a solver with a tolerance of its own: what costs so little over 1 is not worth a
 * limit.
 */
const slightly = 1 + 1e-6

interface Choice {
  classes: number[]
  /** What one row of each of these classes pays for the columns so far. */
  paid: number[]
  /** What the columns so far cost by themselves. */
  base: number
  columns: Column[]
}

/**
 * The rectangles that cost over 1 at these prices, by going through the sets of columns that rows
 * share, the most promising part of them.
 *
 * @param steps the most sets that are looked at
 * @returns some of the dearest rectangles, and a price that no rectangle at all exceeds
 */
export function solvePricingProblem(
  { kinds, sizes, width }: { kinds: ColumnKind[]; sizes: number[]; width: number },
  { rowDuals, columnDuals }: Duals,
  steps: number,
): { heavy: PricedRectangle[]; most: number } {
  const order = [...new Set(rowDuals.flatMap((own) => [...own.keys()]))].toSorted((a, b) => a - b)
  const rest = rowDuals.map((own) => restOf(own, order, columnDuals))
  const heavy: PricedRectangle[] = []
  let [most, left, dearest] = [slightly, steps, slightly]

  /** The price of the best `width` rows when each class pays so much a row. */
  const top = (classes: number[], pay: (i: number) => number): number => {
    const sorted = classes.map((_, i) => i).toSorted((a, b) => pay(b) - pay(a))
    let [sum, room] = [0, width]
    for (const i of sorted) {
      const count = Math.min(room, sizes[classes[i] ?? 0] ?? 0)
      sum += count * pay(i)
      room -= count
      if (room === 0) break
    }
    return sum
  }

  const explore = ({ classes, paid, base, columns }: Choice, from: number): void => {
    for (let next = from; next < order.length; next++) {
      const column = order[next] ?? 0
      if (!columns.every((other) => compatible(kinds, other, column))) continue
      const chosen: Choice = {
        classes: [],
        paid: [],
        base: base + (columnDuals[column] ?? 0),
        columns: [...columns, column],
      }
      for (const [i, index] of classes.entries()) {
        const price = rowDuals[index]?.get(column)
        if (price === undefined) continue
        chosen.classes.push(index)
        chosen.paid.push((paid[i] ?? 0) + price)
      }
      if (chosen.classes.length === 0) continue
      const later = Math.max(...chosen.classes.map((index) => rest[index]?.columns[next + 1] ?? 0))
      const bound =
        chosen.base +
        later +
        top(
          chosen.classes,
          (i) => (chosen.paid[i] ?? 0) + (rest[chosen.classes[i] ?? 0]?.rows[next + 1] ?? 0),
        )
      if (bound <= slightly + (dearest - slightly) / 4) continue
      if (left-- <= 0) {
        most = Math.max(most, bound)
        continue
      }
      const price = chosen.base + top(chosen.classes, (i) => chosen.paid[i] ?? 0)
      if (price > slightly) {
        heavy.push({ rows: bestRows(chosen, sizes, width), columns: chosen.columns, price })
        dearest = Math.max(dearest, price)
      }
      explore(chosen, next + 1)
    }
  }
  explore({ classes: sizes.map((_, i) => i), paid: sizes.map(() => 0), base: 0, columns: [] }, 0)
  most = Math.max(most, dearest)
  return { heavy: heavy.toSorted((a, b) => b.price - a.price), most }
}

/**
 * What the columns from each place of the order on can cost at most: for a row of the class, and by
 * themselves.
 */
function restOf(
  own: Map<Column, number>,
  order: Column[],
  ofColumn: Float64Array,
): { rows: Float64Array; columns: Float64Array } {
  const rows = new Float64Array(order.length + 1)
  const columns = new Float64Array(order.length + 1)
  for (let i = order.length - 1; i >= 0; i--) {
    const price = own.get(order[i] ?? 0)
    rows[i] = (rows[i + 1] ?? 0) + (price ?? 0)
    columns[i] = (columns[i + 1] ?? 0) + (price === undefined ? 0 : (ofColumn[order[i] ?? 0] ?? 0))
  }
  return { rows, columns }
}

function bestRows({ classes, paid }: Choice, sizes: number[], width: number): Map<number, number> {
  const rows = new Map<number, number>()
  let room = width
  for (const i of classes
    .map((_, place) => place)
    .toSorted((a, b) => (paid[b] ?? 0) - (paid[a] ?? 0))) {
    const index = classes[i] ?? 0
    const count = Math.min(room, sizes[index] ?? 0)
    if (count > 0) rows.set(index, count)
    room -= count
  }
  return rows
}

function compatible(kinds: ColumnKind[], a: Column, b: Column): boolean {
  const [one, other] = [kinds[a], kinds[b]]
  return one?.item !== other?.item || (one?.mode === other?.mode && one?.mode !== 0)
}
