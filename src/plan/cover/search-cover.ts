import type { Cell, Column, Rectangle, Row } from './cover-problem.ts'
import { IndexedSet } from './indexed-set.ts'
import { findEntry, findSharedColumns, type Table } from './table.ts'

interface Placed {
  rows: Row[]
  columns: Column[]
  cells: Cell[]
  /** Until this step the rectangle is left as it is, so that a move is not taken back at once. */
  restsUntil: number
}

interface Move {
  rectangle: Placed
  rows: Row[]
  columns: Column[]
  cells: Cell[]
  gain: number
}

/** Rectangles that have nothing to do with the cell in hand, tried all the same. */
const strangers = 4
/** Rows looked at to fill up a rectangle that has room. */
const fillers = 20
/** The most steps that a rectangle rests after a move. */
const longestRest = 3

/**
 * Looks for a cover that has as many rectangles as `start`, by weighted local search: an uncovered
 * cell is given to the rectangle that loses least by it; cells that stay uncovered grow heavier
 * until they are.
 *
 * @param start rectangles, by their rows, that leave some cells uncovered
 * @param steps the most moves that are made
 * @returns a full cover, or null when none was found, and how many moves were made
 */
export function searchCover(
  table: Table,
  start: Row[][],
  steps: number,
  random: () => number,
): { found: Rectangle[] | null; made: number } {
  const search = new CoverSearch(table, start, random)
  let made = 0
  while (search.open.size > 0 && made < steps) search.step(made++)
  return {
    found:
      search.open.size > 0
        ? null
        : search.rectangles.map(({ rows, columns }) => ({ rows, columns })),
    made,
  }
}

class CoverSearch {
  readonly rectangles: Placed[]
  /** The cells that nothing covers. */
  readonly open: IndexedSet
  readonly #count: Int32Array
  readonly #weight: Float64Array
  /** Cell → the last evaluation that covered it. */
  readonly #seen: Int32Array
  #evaluation = 0

  readonly #table: Table
  readonly #random: () => number

  constructor(table: Table, start: Row[][], random: () => number) {
    const { cells } = table.problem
    this.#table = table
    this.#random = random
    this.#count = new Int32Array(cells)
    this.#weight = new Float64Array(cells).fill(1)
    this.#seen = new Int32Array(cells)
    this.open = new IndexedSet(cells)
    this.rectangles = start.map((rows) => ({ rows, columns: [], cells: [], restsUntil: -1 }))
    for (let cell = 0; cell < cells; cell++) this.open.add(cell)
    for (const rectangle of this.rectangles)
      this.#place({ rectangle, ...this.#covered(rectangle.rows), rows: rectangle.rows, gain: 0 })
  }

  /** Gives one uncovered cell to a rectangle. */
  step(step: number): void {
    const cell = this.open.at(Math.floor(this.#random() * this.open.size))
    const move = this.#bestMove(cell, step)
    if (move === null) return
    if (move.gain <= 0)
      for (const other of this.open) this.#weight[other] = (this.#weight[other] ?? 0) + 1
    this.#place(move)
    move.rectangle.restsUntil =
      step + 1 + Math.floor(this.#random() * Math.min(longestRest, this.rectangles.length / 2))
  }

  #bestMove(cell: Cell, step: number): Move | null {
    const row = this.#table.rowOf[cell] ?? 0
    let best: Move | null = null
    let equals = 1
    for (const column of this.#table.coveredBy[cell] ?? []) {
      const chance = strangers / this.rectangles.length
      for (const rectangle of this.rectangles) {
        if (rectangle.restsUntil > step) continue
        const near = rectangle.columns.includes(column) || rectangle.rows.includes(row)
        if (!near && this.#random() >= chance) continue
        const move = this.#moveTo(rectangle, row, column)
        if (best !== null && move.gain < best.gain) continue
        if (best !== null && move.gain === best.gain && this.#random() * ++equals >= 1) continue
        if (best === null || move.gain > best.gain) equals = 1
        best = move
      }
    }
    return best
  }

  /**
   * The rectangle with `row` and `column` in it: rows that do not take the column leave it, and the
   * least useful one when it is full.
   */
  #moveTo(rectangle: Placed, row: Row, column: Column): Move {
    const { problem } = this.#table
    const rows = rectangle.rows.filter(
      (other) => other !== row && findEntry(this.#table, other, column) > 0,
    )
    if (rows.length >= problem.width) rows.splice(this.#leastUseful(rows, rectangle.columns), 1)
    rows.push(row)
    if (rows.length < problem.width) this.#fill(rows)
    const { columns, cells } = this.#covered(rows)
    return { rectangle, rows, columns, cells, gain: this.#gain(rectangle.cells, cells) }
  }

  /**
   * Rows that take all columns of a rectangle with room cover some cells once more, for nothing:
   * others may then let them go.
   */
  #fill(rows: Row[]): void {
    const { problem, takers } = this.#table
    const columns = findSharedColumns(this.#table, rows, this.#worth)
    const rarest = columns.reduce<Row[]>(
      (least, column, i) =>
        i > 0 && least.length <= (takers[column]?.length ?? 0) ? least : (takers[column] ?? []),
      [],
    )
    const from = Math.floor(this.#random() * rarest.length)
    for (let i = 0; i < Math.min(fillers, rarest.length) && rows.length < problem.width; i++) {
      const row = rarest[(from + i) % rarest.length] ?? 0
      const fits = columns.every((column) => findEntry(this.#table, row, column) > 0)
      if (fits && !rows.includes(row)) rows.push(row)
    }
  }

  #leastUseful(rows: Row[], columns: Column[]): number {
    let [least, at] = [Infinity, 0]
    for (const [i, row] of rows.entries()) {
      let loss = 0
      for (const column of columns) loss += this.#worth(row, column)
      if (loss < least) [least, at] = [loss, i]
    }
    return at
  }

  /** What rows cover together. */
  #covered(rows: Row[]): { columns: Column[]; cells: Cell[] } {
    const { begin, cells } = this.#table
    const columns = findSharedColumns(this.#table, rows, this.#worth)
    const covered: Cell[] = []
    for (const row of rows) {
      for (const column of columns) {
        const entry = findEntry(this.#table, row, column)
        for (let place = begin[entry] ?? 0; place < (begin[entry + 1] ?? 0); place++)
          covered.push(cells[place] ?? 0)
      }
    }
    return { columns, cells: covered }
  }

  readonly #worth = (row: Row, column: Column): number => {
    const { begin, cells } = this.#table
    const entry = findEntry(this.#table, row, column)
    let sum = 0
    for (let place = begin[entry] ?? 0; place < (begin[entry + 1] ?? 0); place++) {
      const cell = cells[place] ?? 0
      if ((this.#count[cell] ?? 0) < 2) sum += this.#weight[cell] ?? 0
    }
    return sum
  }

  /** The weight that is newly covered less the weight that is not covered any more. */
  #gain(before: Cell[], after: Cell[]): number {
    this.#evaluation++
    let gain = 0
    for (const cell of after) {
      this.#seen[cell] = this.#evaluation
      if (this.#count[cell] === 0) gain += this.#weight[cell] ?? 0
    }
    for (const cell of before)
      if (this.#count[cell] === 1 && this.#seen[cell] !== this.#evaluation)
        gain -= this.#weight[cell] ?? 0
    return gain
  }

  #place({ rectangle, rows, columns, cells }: Move): void {
    for (const cell of rectangle.cells)
      if ((this.#count[cell] = (this.#count[cell] ?? 0) - 1) === 0) this.open.add(cell)
    for (const cell of cells)
      if ((this.#count[cell] = (this.#count[cell] ?? 0) + 1) === 1) this.open.delete(cell)
    Object.assign(rectangle, { rows, columns, cells })
  }
}
