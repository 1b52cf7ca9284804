import type { Cell, Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, type Entry, type FlatProblem } from './flat-problem.ts'

/** A rectangle of a placement, with the weight that it alone covers, by row and by column. */
export interface PlacedRectangle {
  rows: Row[]
  columns: Column[]
  /** Entries, row by row and in each row by column. */
  entries: Entry[]
  rowLoss: number[]
  columnLoss: number[]
  /** First step at which the rectangle is not tabu. */
  tabuUntil: number
}

/**
 * Rectangles of a partial cover, indexed by row and by column, with the weight that each alone
 * covers. A rectangle is identified by its number, from 0.
 */
export class Placement {
  readonly flat: FlatProblem
  readonly rectangles: PlacedRectangle[]
  /** Numbers of the rectangles that have rows. */
  readonly live: IndexedSet
  readonly byRow: number[][]
  readonly byColumn: number[][]
  /** Cell → number of rectangles that cover it. */
  readonly count: Int32Array
  readonly weight: Float64Array
  /** Cells that no rectangle covers. */
  readonly uncovered: IndexedSet
  /** Cell → sum of the numbers of its rectangles; with a single rectangle that is its number. */
  readonly #ownerSums: Int32Array

  constructor(flat: FlatProblem, start: Rectangle[]) {
    this.flat = flat
    this.count = new Int32Array(flat.cells)
    this.weight = new Float64Array(flat.cells).fill(1)
    this.#ownerSums = new Int32Array(flat.cells)
    this.uncovered = new IndexedSet(flat.cells)
    for (let cell = 0; cell < flat.cells; cell++) this.uncovered.add(cell)
    this.live = new IndexedSet(start.length)
    this.byRow = Array.from({ length: flat.rowStart.length - 1 }, () => [])
    this.byColumn = flat.takers.map(() => [])
    this.rectangles = start.map(() => createEmptyRectangle())
    for (const [id, { rows, columns }] of start.entries()) this.place(id, rows, columns)
  }

  /** Moves a rectangle to these rows and columns; no rows remove it. */
  place(id: number, rows: Row[], columns: Column[]): void {
    const before = this.rectangles[id] ?? createEmptyRectangle()
    const { flat } = this
    const entries: Entry[] = []
    for (const row of rows) for (const column of columns) entries.push(findEntry(flat, row, column))
    for (const entry of entries) this.#own(id, entry, 1)
    for (const entry of before.entries) this.#own(id, entry, -1)
    updateIndex(this.byRow, before.rows, rows, id)
    updateIndex(this.byColumn, before.columns, columns, id)
    const { tabuUntil } = before
    const after = { rows, columns, entries, rowLoss: [], columnLoss: [], tabuUntil }
    this.rectangles[id] = after
    this.#countLosses(after)
    if (rows.length > 0) this.live.add(id)
    else this.live.delete(id)
  }

  /** Resets the weight of all cells to 1. */
  resetWeights(): void {
    this.weight.fill(1)
    for (const rectangle of this.rectangles) {
      rectangle.rowLoss = []
      rectangle.columnLoss = []
      this.#countLosses(rectangle)
    }
  }

  /** Sums the weight of the entry's cells that are covered `times` times. */
  weigh(entry: Entry, times: 0 | 1): number {
    const { cellStart, cellList } = this.flat
    let sum = 0
    for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
      const cell = cellList[i] ?? 0
      if (this.count[cell] === times) sum += this.weight[cell] ?? 0
    }
    return sum
  }

  /** Adds a rectangle to the owners of an entry's cells, or removes it. */
  #own(id: number, entry: Entry, sign: 1 | -1): void {
    const { cellStart, cellList } = this.flat
    for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
      const cell = cellList[i] ?? 0
      const count = (this.count[cell] ?? 0) + sign
      this.count[cell] = count
      const ownerSum = this.#ownerSums[cell] ?? 0
      this.#ownerSums[cell] = ownerSum + sign * id
      // The other owner, if there is exactly one.
      const other = sign > 0 ? ownerSum : ownerSum - id
      const others = sign > 0 ? count - 1 : count
      if (others === 1 && other !== id) this.#changeLoss(other, cell, sign > 0 ? -1 : 1)
      else if (count === 0) this.uncovered.add(cell)
      else if (others === 0) this.uncovered.delete(cell)
    }
  }

  #changeLoss(id: number, cell: Cell, sign: 1 | -1): void {
    const own = this.rectangles[id]
    if (own === undefined) return
    const weight = sign * (this.weight[cell] ?? 0)
    const rowIndex = own.rows.indexOf(this.flat.rowByCell[cell] ?? 0)
    own.rowLoss[rowIndex] = (own.rowLoss[rowIndex] ?? 0) + weight
    for (const column of this.flat.coveredBy[cell] ?? []) {
      const columnIndex = own.columns.indexOf(column)
      if (columnIndex >= 0)
        own.columnLoss[columnIndex] = (own.columnLoss[columnIndex] ?? 0) + weight
    }
  }

  #countLosses({ rows, columns, entries, rowLoss, columnLoss }: PlacedRectangle): void {
    const width = columns.length
    for (let column = 0; column < width; column++) columnLoss.push(0)
    for (let row = 0; row < rows.length; row++) {
      let sum = 0
      for (let column = 0; column < width; column++) {
        const loss = this.weigh(entries[row * width + column] ?? 0, 1)
        sum += loss
        columnLoss[column] = (columnLoss[column] ?? 0) + loss
      }
      rowLoss.push(sum)
    }
  }
}

function createEmptyRectangle(): PlacedRectangle {
  return { rows: [], columns: [], entries: [], rowLoss: [], columnLoss: [], tabuUntil: -1 }
}

/** Moves a rectangle's number from the lists of its former rows or columns to those of its new. */
function updateIndex(lists: number[][], before: number[], after: number[], id: number): void {
  for (const each of before) {
    if (after.includes(each)) continue
    const list = lists[each] ?? []
    const last = list.pop() ?? id
    if (last !== id) list[list.indexOf(id)] = last
  }
  for (const each of after) if (!before.includes(each)) lists[each]?.push(id)
}

/** A set of small numbers that can be drawn from by position. */
class IndexedSet {
  readonly #members: number[] = []
  readonly #position: Int32Array

  constructor(size: number) {
    this.#position = new Int32Array(size).fill(-1)
  }

  get size(): number {
    return this.#members.length
  }

  at(position: number): number {
    return this.#members[position] ?? 0
  }

  add(member: number): void {
    if ((this.#position[member] ?? 0) >= 0) return
    this.#position[member] = this.#members.length
    this.#members.push(member)
  }

  delete(member: number): void {
    const position = this.#position[member] ?? -1
    if (position < 0) return
    const last = this.#members.pop() ?? member
    this.#position[member] = -1
    if (last === member) return
    this.#members[position] = last
    this.#position[last] = position
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#members[Symbol.iterator]()
  }
}
