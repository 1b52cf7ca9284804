import type { Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, findSharedColumns, pickAlternatives, type FlatProblem } from './flat-problem.ts'
import { Placement, type PlacedRectangle } from './placement.ts'

interface Move {
  id: number
  rows: Row[]
  columns: Column[]
  gain: number
}

/**
 * Maximum number of candidates with the column: first all are estimated, then the best evaluated.
 */
const maxEstimated = 150
const maxEvaluated = 3
/** Number of random candidates besides those that share the row or the column. */
const randomCandidates = 2
/** Maximum number of rows that are tried to fill up a rectangle. */
const maxFillers = 50
/** Weight that a cell gains when its move covers no more than before. */
const weightStep = 0.1
/** Maximum tabu tenure: steps during which a moved rectangle stays unchanged. */
const maxTenure = 3

/**
 * Moves of a tabu search with cell weights. A move adds an uncovered cell to
 * the rectangle with the best gain. Its weight rises if the move covers no more than before: small
 * steps for this cell alone keep the moves for one uncovered cell from disturbing distant ones.
 */
export class TabuMoves {
  readonly placement: Placement
  readonly #flat: FlatProblem
  readonly #random: () => number
  /** Column → last step whose row takes it; column → uncovered weight of that row there. */
  readonly #markedAtStep: Int32Array
  readonly #openWeight: Float64Array
  /** Cell → number of the last evaluation that covered it. */
  readonly #seen: Int32Array
  #evaluation = 0
  #step = 0

  constructor(flat: FlatProblem, start: Rectangle[], random: () => number) {
    this.#flat = flat
    this.#random = random
    this.#markedAtStep = new Int32Array(flat.takers.length).fill(-1)
    this.#openWeight = new Float64Array(flat.takers.length)
    this.#seen = new Int32Array(flat.cells)
    this.placement = new Placement(flat, start)
  }

  /** Adds one uncovered cell, which has to exist, to a rectangle. */
  advance(): void {
    const { uncovered, weight, live, rectangles } = this.placement
    const cell = uncovered.at(Math.floor(this.#random() * uncovered.size))
    this.#markColumns(this.#flat.rowByCell[cell] ?? 0)
    const move = this.#findBestMove(cell)
    this.#step++
    if (move === null) return
    if (move.gain <= 0) weight[cell] = (weight[cell] ?? 0) + weightStep
    this.#fill(move)
    this.placement.place(move.id, move.rows, move.columns)
    const placed = rectangles[move.id]
    if (placed === undefined) return
    placed.tabuUntil = this.#step + Math.floor(this.#random() * Math.min(maxTenure, live.size / 2))
  }

  #markColumns(row: Row): void {
    const { rowStart, columnByEntry } = this.#flat
    for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
      const column = columnByEntry[entry] ?? 0
      this.#markedAtStep[column] = this.#step
      this.#openWeight[column] = this.placement.weigh(entry, 0)
    }
  }

  #findBestMove(cell: number): Move | null {
    const { byRow, byColumn, live, rectangles } = this.placement
    const row = this.#flat.rowByCell[cell] ?? 0
    let best: Move | null = null
    let ties = 1
    for (const column of this.#flat.coveredBy[cell] ?? []) {
      const ids = [...(byRow[row] ?? []), ...this.#findPromising(byColumn[column] ?? [], row)]
      for (let i = 0; i < randomCandidates; i++) {
        ids.push(live.at(Math.floor(this.#random() * live.size)))
      }
      for (const id of ids) {
        const own = rectangles[id]
        if (own === undefined || own.rows.length === 0 || own.tabuUntil > this.#step) continue
        const move = this.#evaluate(id, own, row, column)
        if (best !== null && move.gain < best.gain) continue
        if (best !== null && move.gain === best.gain && this.#random() * ++ties >= 1) continue
        if (best === null || move.gain > best.gain) ties = 1
        best = move
      }
    }
    return best
  }

  /** Finds the candidates with the column whose estimated gain by the row is largest. */
  #findPromising(ids: number[], row: Row): number[] {
    const { rectangles } = this.placement
    const best: { id: number; gain: number }[] = []
    let position = Math.floor(this.#random() * ids.length)
    for (let i = Math.min(maxEstimated, ids.length); i > 0; i--) {
      const id = ids[position] ?? 0
      if (++position >= ids.length) position = 0
      const own = rectangles[id]
      if (own === undefined || own.tabuUntil > this.#step) continue
      const gain = this.#estimate(own)
      const last = best[maxEvaluated - 1]
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

  /** Estimates a rectangle's gain by the current row; a cell that is lost twice counts twice. */
  #estimate({ columns, rowLoss, columnLoss }: PlacedRectangle): number {
    let gain = 0
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i] ?? 0
      gain +=
        this.#markedAtStep[column] === this.#step
          ? (this.#openWeight[column] ?? 0)
          : -(columnLoss[i] ?? 0)
    }
    if (rowLoss.length < this.#flat.width) return gain
    let leastLoss = Infinity
    for (let i = 0; i < rowLoss.length; i++) leastLoss = Math.min(leastLoss, rowLoss[i] ?? 0)
    return gain - leastLoss
  }

  /**
   * Evaluates a rectangle with the row and the column added. Rows that do not take the column are
   * dropped, and the least useful one if the rectangle is full.
   */
  #evaluate(id: number, own: PlacedRectangle, row: Row, column: Column): Move {
    const hasColumn = own.columns.includes(column)
    const rows = [row]
    let leastLoss = Infinity
    let position = -1
    for (let i = 0; i < own.rows.length; i++) {
      const otherRow = own.rows[i] ?? 0
      if (otherRow === row || !(hasColumn || findEntry(this.#flat, otherRow, column) >= 0)) continue
      const loss = own.rowLoss[i] ?? 0
      if (loss < leastLoss) [leastLoss, position] = [loss, rows.length]
      rows.push(otherRow)
    }
    if (rows.length > this.#flat.width) rows.splice(position, 1)
    const columns = this.#findColumns(rows)
    return { id, rows, columns, gain: this.#computeGain(own, rows, columns) }
  }

  /** Finds the shared columns, with the alternative of each item that has most weight. */
  #findColumns(rows: Row[]): Column[] {
    return pickAlternatives(this.#flat, findSharedColumns(this.#flat, rows), (column) => {
      let sum = 0
      for (const row of rows) {
        const entry = findEntry(this.#flat, row, column)
        sum += this.placement.weigh(entry, 0) + this.placement.weigh(entry, 1)
      }
      return sum
    })
  }

  /** Computes the newly covered weight less the weight that is no longer covered. */
  #computeGain(own: PlacedRectangle, rows: Row[], columns: Column[]): number {
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

  /** Fills up a rectangle with rows that take all its columns: other rectangles may drop them. */
  #fill({ rows, columns }: Move): void {
    const { takers, width } = this.#flat
    if (rows.length >= width) return
    const lists = columns.map((column) => takers[column] ?? [])
    const rarest = lists.reduce((shortest, list) =>
      list.length < shortest.length ? list : shortest,
    )
    let position = Math.floor(this.#random() * rarest.length)
    for (let i = Math.min(maxFillers, rarest.length); i > 0 && rows.length < width; i--) {
      const row = rarest[position] ?? 0
      if (++position >= rarest.length) position = 0
      if (rows.includes(row)) continue
      if (columns.every((column) => findEntry(this.#flat, row, column) >= 0)) rows.push(row)
    }
  }
}
