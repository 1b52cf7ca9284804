import type { Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, type Entry, type FlatProblem } from './flat-problem.ts'
import { MaxHeap } from './max-heap.ts'
import { pickAlternatives } from './pick-alternatives.ts'

/** Rows of one column, and of all columns, that a rectangle may grow by. */
const maxRowsOfColumn = 200
const maxCandidates = 600

/**
 * Covers all cells, always by the rectangle that covers most open ones of those that grow from a
 * row. What a row's rectangle covered when it was last grown ranks the row, so that few are grown
 * anew.
 *
 * @param enough share of the next row's rank that a rectangle has to cover: less than 1 saves time
 */
export function growCover(flat: FlatProblem, enough: number, random: () => number): Rectangle[] {
  const growth = new Growth(flat, random)
  const rows = new MaxHeap()
  for (let row = 0; row + 1 < flat.rowStart.length; row++) {
    const open = growth.openCells(row)
    if (open > 0) rows.push(row, open * flat.width)
  }
  const cover: Rectangle[] = []
  for (let seed = rows.pop(); seed !== undefined; seed = rows.pop()) {
    if (growth.openCells(seed) === 0) continue
    const { rectangle, gain } = growth.grow(seed)
    if (gain >= enough * (rows.maxPriority() ?? 0)) {
      growth.cover(rectangle)
      cover.push(rectangle)
    }
    rows.push(seed, gain)
  }
  return cover
}

class Growth {
  readonly #flat: FlatProblem
  readonly #random: () => number
  readonly #isOpen: Uint8Array
  /** Entry → its open cells. */
  readonly #open: Int32Array
  readonly #rowOf: Int32Array
  /** Column → the entries with open cells, and of each entry its place there. */
  readonly #openEntries: Entry[][]
  readonly #place: Int32Array
  /** Row → the last growth that it was a candidate of. */
  readonly #seen: Int32Array
  #growths = 0

  constructor(flat: FlatProblem, random: () => number) {
    const { rowStart, columnOf, cellStart } = flat
    this.#flat = flat
    this.#random = random
    this.#isOpen = new Uint8Array(flat.cells).fill(1)
    this.#open = new Int32Array(columnOf.length)
    this.#rowOf = new Int32Array(columnOf.length)
    this.#openEntries = flat.takers.map(() => [])
    this.#place = new Int32Array(columnOf.length)
    this.#seen = new Int32Array(rowStart.length)
    for (let row = 0; row + 1 < rowStart.length; row++) {
      for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
        this.#rowOf[entry] = row
        this.#open[entry] = (cellStart[entry + 1] ?? 0) - (cellStart[entry] ?? 0)
        const own = this.#openEntries[columnOf[entry] ?? 0] ?? []
        this.#place[entry] = own.length
        if (this.#open[entry] !== 0) own.push(entry)
      }
    }
  }

  /** Counts the open cells of a row; one that several columns cover counts for each of them. */
  openCells(row: Row): number {
    const { rowStart } = this.#flat
    return sum(this.#open.subarray(rowStart[row], rowStart[row + 1]))
  }

  /** Grows a rectangle from a row, each time by the row that lets it cover most open cells. */
  grow(seed: Row): { rectangle: Rectangle; gain: number } {
    const { rowStart, columnOf, width } = this.#flat
    const all = Array.from(columnOf.subarray(rowStart[seed], rowStart[seed + 1]))
    const openOf = (column: Column): number => this.#open[findEntry(this.#flat, seed, column)] ?? 0
    const columns = pickAlternatives(this.#flat, all, (column) => {
      return openOf(column) * Math.min(width, this.#openEntries[column]?.length ?? 0)
    })
    const candidates = this.#candidates(seed, columns)
    const cells = this.#openCells(candidates, columns)
    /** Places of the columns that all rows so far take, and their open cells. */
    let shared = [...columns.keys()]
    const own = columns.map(openOf)
    const rows = [seed]
    const left = [...candidates.keys()]
    let found = { rectangle: { rows: [seed], columns }, gain: sum(own) }
    while (rows.length < width) {
      const best = bestCandidate(left, cells, shared, own)
      if (best === null) break
      left.splice(left.indexOf(best.place), 1)
      rows.push(candidates[best.place] ?? 0)
      const from = best.place * columns.length
      shared = shared.filter((i) => (cells[from + i] ?? -1) >= 0)
      for (const i of shared) own[i] = (own[i] ?? 0) + (cells[from + i] ?? 0)
      if (best.gain > found.gain) {
        found = {
          rectangle: { rows: [...rows], columns: shared.map((i) => columns[i] ?? 0) },
          gain: best.gain,
        }
      }
    }
    return found
  }

  /** Takes the cells of a rectangle as covered. */
  cover({ rows, columns }: Rectangle): void {
    const { rowStart, cellStart, cellList, columnOf } = this.#flat
    for (const row of rows) {
      for (const column of columns) {
        const entry = findEntry(this.#flat, row, column)
        for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
          this.#isOpen[cellList[i] ?? 0] = 0
        }
      }
      for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
        if (this.#open[entry] === 0) continue
        let open = 0
        for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
          open += this.#isOpen[cellList[i] ?? 0] ?? 0
        }
        this.#open[entry] = open
        if (open === 0) this.#close(entry, this.#openEntries[columnOf[entry] ?? 0] ?? [])
      }
    }
  }

  #close(entry: Entry, list: Entry[]): void {
    const last = list.pop() ?? entry
    if (last === entry) return
    const place = this.#place[entry] ?? 0
    list[place] = last
    this.#place[last] = place
  }

  /** Finds rows with open cells in these columns, those of rare columns first. */
  #candidates(seed: Row, columns: Column[]): Row[] {
    const lists = columns
      .map((column) => this.#openEntries[column] ?? [])
      .toSorted((a, b) => a.length - b.length)
    const found: Row[] = []
    this.#seen[seed] = ++this.#growths
    for (const list of lists) {
      let place = Math.floor(this.#random() * list.length)
      const until = Math.min(maxCandidates, found.length + maxRowsOfColumn)
      for (let i = 0; i < list.length && found.length < until; i++) {
        const row = this.#rowOf[list[place] ?? 0] ?? 0
        if (++place >= list.length) place = 0
        if (this.#seen[row] === this.#growths) continue
        this.#seen[row] = this.#growths
        found.push(row)
      }
    }
    return found
  }

  /**
   * Counts candidate by candidate the open cells by column; -1 where one does not take a column.
   */
  #openCells(candidates: Row[], columns: Column[]): Int32Array {
    const cells = new Int32Array(candidates.length * columns.length)
    let i = 0
    for (const row of candidates) {
      for (const column of columns) {
        const entry = findEntry(this.#flat, row, column)
        cells[i++] = entry < 0 ? -1 : (this.#open[entry] ?? 0)
      }
    }
    return cells
  }
}

/** Finds the candidate with which a rectangle covers most open cells. */
function bestCandidate(
  left: number[],
  cells: Int32Array,
  shared: number[],
  own: number[],
): { place: number; gain: number } | null {
  let [found, most] = [-1, -1]
  for (let k = 0; k < left.length; k++) {
    const place = left[k] ?? 0
    let gain = 0
    for (let i = 0; i < shared.length; i++) {
      const column = shared[i] ?? 0
      const open = cells[place * own.length + column] ?? -1
      if (open >= 0) gain += (own[column] ?? 0) + open
    }
    if (gain > most) [found, most] = [place, gain]
  }
  return found < 0 ? null : { place: found, gain: most }
}

function sum(numbers: number[] | Int32Array): number {
  let total = 0
  for (const each of numbers) total += each
  return total
}
