import type { Cell, Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, type Entry, type FlatProblem } from './flat-problem.ts'
import { IndexedSet } from './indexed-set.ts'

/** A rectangle in its place, with the weight that nothing else covers, by row and by column. */
export interface PlacedRectangle {
  rows: Row[]
  columns: Column[]
  /** Row by row, of each row its entries by column. */
  entries: Entry[]
  rowLoss: number[]
  columnLoss: number[]
  /** Until this step the rectangle stays as it is. */
  restsUntil: number
}

/**
 * Rectangles that cover some cells of a problem, indexed by row and column; keeps up to date what
 * each of them alone covers. Each rectangle has a number from 0, and keeps it.
 */
export class Placement {
  readonly flat: FlatProblem
  readonly rectangles: PlacedRectangle[]
  /** The numbers of rectangles that have rows. */
  readonly live: IndexedSet
  readonly byRow: number[][]
  readonly byColumn: number[][]
  /** Cell → how many rectangles cover it. */
  readonly count: Int32Array
  readonly weight: Float64Array
  /** The cells that nothing covers. */
  readonly uncovered: IndexedSet
  /** Cell → sum of the numbers of the rectangles that cover it: of a single one its number. */
  readonly #owners: Int32Array

  constructor(flat: FlatProblem, start: Rectangle[]) {
    this.flat = flat
    this.count = new Int32Array(flat.cells)
    this.weight = new Float64Array(flat.cells).fill(1)
    this.#owners = new Int32Array(flat.cells)
    this.uncovered = new IndexedSet(flat.cells)
    for (let cell = 0; cell < flat.cells; cell++) this.uncovered.add(cell)
    this.live = new IndexedSet(start.length)
    this.byRow = Array.from({ length: flat.rowStart.length - 1 }, () => [])
    this.byColumn = flat.takers.map(() => [])
    this.rectangles = start.map(() => emptyPlace())
    for (const [id, { rows, columns }] of start.entries()) this.place(id, rows, columns)
  }

  /** Puts a rectangle where other rows and columns are; without rows it is taken away. */
  place(id: number, rows: Row[], columns: Column[]): void {
    const before = this.rectangles[id] ?? emptyPlace()
    const { flat } = this
    const entries: Entry[] = []
    for (const row of rows) for (const column of columns) entries.push(findEntry(flat, row, column))
    for (const entry of entries) this.#cover(id, entry)
    for (const entry of before.entries) this.#uncover(id, entry)
    update(this.byRow, before.rows, rows, id)
    update(this.byColumn, before.columns, columns, id)
    const { restsUntil } = before
    const after = { rows, columns, entries, rowLoss: [], columnLoss: [], restsUntil }
    this.rectangles[id] = after
    this.#countLosses(after)
    if (rows.length > 0) this.live.add(id)
    else this.live.delete(id)
  }

  /** Makes all cells weigh the same again. */
  resetWeights(): void {
    this.weight.fill(1)
    for (const rectangle of this.rectangles) {
      rectangle.rowLoss = []
      rectangle.columnLoss = []
      this.#countLosses(rectangle)
    }
  }

  /** Weighs what an entry covers of the cells that so many rectangles cover. */
  weigh(entry: Entry, times: 0 | 1): number {
    const { cellStart, cellList } = this.flat
    let sum = 0
    for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
      const cell = cellList[i] ?? 0
      if (this.count[cell] === times) sum += this.weight[cell] ?? 0
    }
    return sum
  }

  #cover(id: number, entry: Entry): void {
    const { cellStart, cellList } = this.flat
    for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
      const cell = cellList[i] ?? 0
      const count = (this.count[cell] ?? 0) + 1
      this.count[cell] = count
      const owner = this.#owners[cell] ?? 0
      this.#owners[cell] = owner + id
      if (count === 1) this.uncovered.delete(cell)
      else if (count === 2 && owner !== id) this.#changeLoss(owner, cell, -1)
    }
  }

  #uncover(id: number, entry: Entry): void {
    const { cellStart, cellList } = this.flat
    for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
      const cell = cellList[i] ?? 0
      const count = (this.count[cell] ?? 0) - 1
      this.count[cell] = count
      const owner = (this.#owners[cell] ?? 0) - id
      this.#owners[cell] = owner
      if (count === 0) this.uncovered.add(cell)
      else if (count === 1 && owner !== id) this.#changeLoss(owner, cell, 1)
    }
  }

  #changeLoss(id: number, cell: Cell, sign: 1 | -1): void {
    const own = this.rectangles[id]
    if (own === undefined) return
    const weight = sign * (this.weight[cell] ?? 0)
    const place = own.rows.indexOf(this.flat.rowOfCell[cell] ?? 0)
    own.rowLoss[place] = (own.rowLoss[place] ?? 0) + weight
    for (const column of this.flat.coveredBy[cell] ?? []) {
      const at = own.columns.indexOf(column)
      if (at >= 0) own.columnLoss[at] = (own.columnLoss[at] ?? 0) + weight
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

function emptyPlace(): PlacedRectangle {
  return { rows: [], columns: [], entries: [], rowLoss: [], columnLoss: [], restsUntil: -1 }
}

/** Moves a rectangle's number from the lists of what it had to those of what it has. */
function update(lists: number[][], before: number[], after: number[], id: number): void {
  for (const each of before) {
    if (after.includes(each)) continue
    const list = lists[each] ?? []
    const last = list.pop() ?? id
    if (last !== id) list[list.indexOf(id)] = last
  }
  for (const each of after) if (!before.includes(each)) lists[each]?.push(id)
}
