import type { Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, findSharedColumns, type FlatProblem } from './flat-problem.ts'
import { pickAlternatives } from './pick-alternatives.ts'
import { Placement, type PlacedRectangle } from './placement.ts'

interface Move {
  id: number
  rows: Row[]
  columns: Column[]
  gain: number
}

/** Rectangles with the column in hand whose gain is estimated; the best of them are worked out. */
const maxEstimated = 150
const maxWorkedOut = 3
/** Rectangles that have nothing to do with the cell in hand, tried all the same. */
const othersTried = 2
/** Rows looked at to fill up a rectangle that has room. */
const maxFillers = 50
/** The most steps that a rectangle rests after a move. */
const maxRest = 3

/**
 * Moves of a weighted local search: an uncovered cell is given to the rectangle that loses least by
 * it; cells that stay uncovered grow heavier until they are covered.
 */
export class LargeMoves {
  readonly placement: Placement
  readonly #flat: FlatProblem
  readonly #random: () => number
  /** Column → the last step whose row takes it, and the open weight that the row has there. */
  readonly #takenAt: Int32Array
  readonly #openWeight: Float64Array
  /** Cell → the last evaluation that covered it. */
  readonly #seen: Int32Array
  #evaluation = 0
  #step = 0

  constructor(flat: FlatProblem, start: Rectangle[], random: () => number) {
    this.#flat = flat
    this.#random = random
    this.#takenAt = new Int32Array(flat.takers.length).fill(-1)
    this.#openWeight = new Float64Array(flat.takers.length)
    this.#seen = new Int32Array(flat.cells)
    this.placement = new Placement(flat, start)
  }

  /** Gives one uncovered cell to a rectangle. There has to be such a cell. */
  advance(): void {
    const { uncovered: open, weight, live, rectangles } = this.placement
    const cell = open.at(Math.floor(this.#random() * open.size))
    this.#markColumns(this.#flat.rowOfCell[cell] ?? 0)
    const move = this.#bestMove(cell)
    this.#step++
    if (move === null) return
    if (move.gain <= 0) for (const other of open) weight[other] = (weight[other] ?? 0) + 1
    this.#fill(move)
    this.placement.place(move.id, move.rows, move.columns)
    const placed = rectangles[move.id]
    if (placed === undefined) return
    placed.restsUntil = this.#step + Math.floor(this.#random() * Math.min(maxRest, live.size / 2))
  }

  #markColumns(row: Row): void {
    const { rowStart, columnOf } = this.#flat
    for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
      const column = columnOf[entry] ?? 0
      this.#takenAt[column] = this.#step
      this.#openWeight[column] = this.placement.weigh(entry, 0)
    }
  }

  #bestMove(cell: number): Move | null {
    const { byRow, byColumn, live, rectangles } = this.placement
    const row = this.#flat.rowOfCell[cell] ?? 0
    let best: Move | null = null
    let equals = 1
    for (const column of this.#flat.coveredBy[cell] ?? []) {
      const ids = [...(byRow[row] ?? []), ...this.#promising(byColumn[column] ?? [], row)]
      for (let i = 0; i < othersTried; i++) {
        ids.push(live.at(Math.floor(this.#random() * live.size)))
      }
      for (const id of ids) {
        const own = rectangles[id]
        if (own === undefined || own.rows.length === 0 || own.restsUntil > this.#step) continue
        const move = this.#workOut(id, own, row, column)
        if (best !== null && move.gain < best.gain) continue
        if (best !== null && move.gain === best.gain && this.#random() * ++equals >= 1) continue
        if (best === null || move.gain > best.gain) equals = 1
        best = move
      }
    }
    return best
  }

  /** Finds, of rectangles that have the column in hand, those that seem to gain most by the row. */
  #promising(ids: number[], row: Row): number[] {
    const { rectangles } = this.placement
    const best: { id: number; gain: number }[] = []
    let place = Math.floor(this.#random() * ids.length)
    for (let i = Math.min(maxEstimated, ids.length); i > 0; i--) {
      const id = ids[place] ?? 0
      if (++place >= ids.length) place = 0
      const own = rectangles[id]
      if (own === undefined || own.restsUntil > this.#step) continue
      const gain = this.#estimate(own)
      const last = best[maxWorkedOut - 1]
      if ((last !== undefined && gain <= last.gain) || own.rows.includes(row)) continue
      if (last !== undefined) best.pop()
      best.push({ id, gain })
      for (let j = best.length - 1; j > 0; j--) {
        const [before, after] = [best[j - 1], best[j]]
        if (before === undefined || after === undefined || before.gain >= after.gain) break
        best[j - 1] = after
        best[j] = before
      }
    }
    return best.map(({ id }) => id)
  }

  /**
   * Estimates the gain of the row in hand for a rectangle: cells that are lost twice count twice.
   */
  #estimate({ columns, rowLoss, columnLoss }: PlacedRectangle): number {
    let gain = 0
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i] ?? 0
      gain +=
        this.#takenAt[column] === this.#step
          ? (this.#openWeight[column] ?? 0)
          : -(columnLoss[i] ?? 0)
    }
    if (rowLoss.length < this.#flat.width) return gain
    let least = Infinity
    for (let i = 0; i < rowLoss.length; i++) least = Math.min(least, rowLoss[i] ?? 0)
    return gain - least
  }

  /**
   * Works out a rectangle with the row and the column in it: rows that do not take the column leave
   * it, and the least useful one when it is full.
   */
  #workOut(id: number, own: PlacedRectangle, row: Row, column: Column): Move {
    const has = own.columns.includes(column)
    const rows = [row]
    let least = Infinity
    let place = -1
    for (let i = 0; i < own.rows.length; i++) {
      const other = own.rows[i] ?? 0
      if (other === row || !(has || findEntry(this.#flat, other, column) >= 0)) continue
      const loss = own.rowLoss[i] ?? 0
      if (loss < least) [least, place] = [loss, rows.length]
      rows.push(other)
    }
    if (rows.length > this.#flat.width) rows.splice(place, 1)
    const columns = this.#sharedColumns(rows)
    return { id, rows, columns, gain: this.#gain(own, rows, columns) }
  }

  /** Of rival ways of an item that which weighs most where it is not covered twice. */
  #sharedColumns(rows: Row[]): Column[] {
    return pickAlternatives(this.#flat, findSharedColumns(this.#flat, rows), (column) => {
      let sum = 0
      for (const row of rows) {
        const entry = findEntry(this.#flat, row, column)
        sum += this.placement.weigh(entry, 0) + this.placement.weigh(entry, 1)
      }
      return sum
    })
  }

  /** The weight that is newly covered less the weight that is not covered any more. */
  #gain(own: PlacedRectangle, rows: Row[], columns: Column[]): number {
    const { cellStart, cellList } = this.#flat
    const { count, weight } = this.placement
    const evaluation = ++this.#evaluation
    let gain = 0
    for (let i = 0; i < rows.length; i++) {
      for (let j = 0; j < columns.length; j++) {
        const entry = findEntry(this.#flat, rows[i] ?? 0, columns[j] ?? 0)
        for (let k = cellStart[entry] ?? 0; k < (cellStart[entry + 1] ?? 0); k++) {
          const cell = cellList[k] ?? 0
          this.#seen[cell] = evaluation
          if (count[cell] === 0) gain += weight[cell] ?? 0
        }
      }
    }
    for (let i = 0; i < own.entries.length; i++) {
      const entry = own.entries[i] ?? 0
      for (let k = cellStart[entry] ?? 0; k < (cellStart[entry + 1] ?? 0); k++) {
        const cell = cellList[k] ?? 0
        if (count[cell] === 1 && this.#seen[cell] !== evaluation) gain -= weight[cell] ?? 0
      }
    }
    return gain
  }

  /** Adds rows that take all columns of a rectangle with room: others may then let them go. */
  #fill({ rows, columns }: Move): void {
    const { takers, width } = this.#flat
    if (rows.length >= width) return
    const lists = columns.map((column) => takers[column] ?? [])
    const rarest = lists.reduce((least, list) => (list.length < least.length ? list : least))
    let place = Math.floor(this.#random() * rarest.length)
    for (let i = Math.min(maxFillers, rarest.length); i > 0 && rows.length < width; i--) {
      const row = rarest[place] ?? 0
      if (++place >= rarest.length) place = 0
      if (rows.includes(row)) continue
      if (columns.every((column) => findEntry(this.#flat, row, column) >= 0)) rows.push(row)
    }
  }
}
