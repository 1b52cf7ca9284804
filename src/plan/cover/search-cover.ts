import type { Cell, Column, Rectangle, Row } from './cover-problem.ts'
import { IndexedSet } from './indexed-set.ts'
import { findEntry, findSharedColumns, type Table } from './table.ts'

interface PlacedRectangle {
  rows: Row[]
  columns: Column[]
  cells: Cell[]
  /** First step at which the rectangle is not tabu, so that a move is not undone at once. */
  tabuUntil: number
}

interface Move {
  rectangle: PlacedRectangle
  rows: Row[]
  columns: Column[]
  cells: Cell[]
  gain: number
}

/** Expected number of random candidates besides those that share the row or the column. */
const randomCandidates = 4
/** Maximum number of rows that are tried to fill up a rectangle. */
const maxFillers = 20
/** Maximum tabu tenure: steps during which a moved rectangle stays unchanged. */
const maxTenure = 3

/**
 * Searches for a cover with as many rectangles as `start` by tabu search with cell weights. A move
 * adds an uncovered cell to the rectangle with the best gain. Weights of cells rise while they stay
 * uncovered.
 *
 * @param start rows of rectangles that leave some cells uncovered
 * @param steps maximum number of moves
 * @returns a full cover or null, and the number of moves made
 */
export function searchCover(
  table: Table,
  start: Row[][],
  steps: number,
  random: () => number,
): { found: Rectangle[] | null; made: number } {
  const search = new CoverSearch(table, start, random)
  let made = 0
  while (search.uncovered.size > 0 && made < steps) search.step(made++)
  return {
    found:
      search.uncovered.size > 0
        ? null
        : search.rectangles.map(({ rows, columns }) => ({ rows, columns })),
    made,
  }
}

class CoverSearch {
  readonly rectangles: PlacedRectangle[]
  /** Cells that no rectangle covers. */
  readonly uncovered: IndexedSet
  readonly #count: Int32Array
  readonly #weight: Float64Array
  /** Cell → number of the last evaluation that covered it. */
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
    this.uncovered = new IndexedSet(cells)
    this.rectangles = start.map((rows) => ({ rows, columns: [], cells: [], tabuUntil: -1 }))
    for (let cell = 0; cell < cells; cell++) this.uncovered.add(cell)
    for (const rectangle of this.rectangles)
      this.#place({
        rectangle,
        ...this.#computeCovered(rectangle.rows),
        rows: rectangle.rows,
        gain: 0,
      })
  }

  /** Adds one uncovered cell to a rectangle. */
  step(step: number): void {
    const cell = this.uncovered.at(Math.floor(this.#random() * this.uncovered.size))
    const move = this.#findBestMove(cell, step)
    if (move === null) return
    if (move.gain <= 0)
      for (const other of this.uncovered) this.#weight[other] = (this.#weight[other] ?? 0) + 1
    this.#place(move)
    move.rectangle.tabuUntil =
      step + 1 + Math.floor(this.#random() * Math.min(maxTenure, this.rectangles.length / 2))
  }

  #findBestMove(cell: Cell, step: number): Move | null {
    const row = this.#table.rowByCell[cell] ?? 0
    let best: Move | null = null
    let ties = 1
    for (const column of this.#table.coveredBy[cell] ?? []) {
      const probability = randomCandidates / this.rectangles.length
      for (const rectangle of this.rectangles) {
        if (rectangle.tabuUntil > step) continue
        const isRelated = rectangle.columns.includes(column) || rectangle.rows.includes(row)
        if (!isRelated && this.#random() >= probability) continue
        const move = this.#buildMove(rectangle, row, column)
        if (best !== null && move.gain < best.gain) continue
        if (best !== null && move.gain === best.gain && this.#random() * ++ties >= 1) continue
        if (best === null || move.gain > best.gain) ties = 1
        best = move
      }
    }
    return best
  }

  /**
   * Builds the rectangle with `row` and `column` added. Rows that do not take the column are
   * dropped, and the least useful one if the rectangle is full.
   */
  #buildMove(rectangle: PlacedRectangle, row: Row, column: Column): Move {
    const { problem } = this.#table
    const rows = rectangle.rows.filter(
      (other) => other !== row && findEntry(this.#table, other, column) > 0,
    )
    if (rows.length >= problem.width) rows.splice(this.#findLeastUseful(rows, rectangle.columns), 1)
    rows.push(row)
    if (rows.length < problem.width) this.#fill(rows)
    const { columns, cells } = this.#computeCovered(rows)
    return { rectangle, rows, columns, cells, gain: this.#computeGain(rectangle.cells, cells) }
  }

  /** Fills up a rectangle with rows that take all its columns: other rectangles may drop them. */
  #fill(rows: Row[]): void {
    const { problem, takers } = this.#table
    const columns = findSharedColumns(this.#table, rows, this.#computeWorth)
    const rarest = columns.reduce<Row[]>(
      (least, column, i) =>
        i > 0 && least.length <= (takers[column]?.length ?? 0) ? least : (takers[column] ?? []),
      [],
    )
    const from = Math.floor(this.#random() * rarest.length)
    for (let i = 0; i < Math.min(maxFillers, rarest.length) && rows.length < problem.width; i++) {
      const row = rarest[(from + i) % rarest.length] ?? 0
      const fits = columns.every((column) => findEntry(this.#table, row, column) > 0)
      if (fits && !rows.includes(row)) rows.push(row)
    }
  }

  #findLeastUseful(rows: Row[], columns: Column[]): number {
    let [least, index] = [Infinity, 0]
    for (const [i, row] of rows.entries()) {
      let loss = 0
      for (const column of columns) loss += this.#computeWorth(row, column)
      if (loss < least) [least, index] = [loss, i]
    }
    return index
  }

  /** Computes the shared columns of rows, and the cells that these cover. */
  #computeCovered(rows: Row[]): { columns: Column[]; cells: Cell[] } {
    const { begin, cells } = this.#table
    const columns = findSharedColumns(this.#table, rows, this.#computeWorth)
    const covered: Cell[] = []
    for (const row of rows) {
      for (const column of columns) {
        const entry = findEntry(this.#table, row, column)
        for (let index = begin[entry] ?? 0; index < (begin[entry + 1] ?? 0); index++)
          covered.push(cells[index] ?? 0)
      }
    }
    return { columns, cells: covered }
  }

  readonly #computeWorth = (row: Row, column: Column): number => {
    const { begin, cells } = this.#table
    const entry = findEntry(this.#table, row, column)
    let sum = 0
    for (let index = begin[entry] ?? 0; index < (begin[entry + 1] ?? 0); index++) {
      const cell = cells[index] ?? 0
      if ((this.#count[cell] ?? 0) < 2) sum += this.#weight[cell] ?? 0
    }
    return sum
  }

  /** Computes the newly covered weight less the weight that is no longer covered. */
  #computeGain(before: Cell[], after: Cell[]): number {
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
      if ((this.#count[cell] = (this.#count[cell] ?? 0) - 1) === 0) this.uncovered.add(cell)
    for (const cell of cells)
      if ((this.#count[cell] = (this.#count[cell] ?? 0) + 1) === 1) this.uncovered.delete(cell)
    Object.assign(rectangle, { rows, columns, cells })
  }
}
