import { addUp } from '../../model/lists.ts'
import type { Column, Rectangle, Row } from './cover-problem.ts'
import { findEntry, pickAlternatives, type Entry, type FlatProblem } from './flat-problem.ts'
import { MaxHeap } from './max-heap.ts'

/** Maximum number of candidate rows of one column, and of all columns. */
const maxRowsOfColumn = 200
const maxCandidates = 600
/** Larger than any gain. */
const unbounded = 2 ** 30

/**
 * Covers all cells greedily: the next rectangle is the one that covers most uncovered cells. A heap
 * ranks each row by the gain of the last rectangle that was grown from it, so that few are grown
 * again.
 *
 * @param minGainShare minimum gain of a rectangle as a share of the next rank; below 1 saves time
 */
export function growCover(
  flat: FlatProblem,
  minGainShare: number,
  random: () => number,
): Rectangle[] {
  const growth = new Growth(flat, random)
  const rows = new MaxHeap()
  for (let row = 0; row + 1 < flat.rowStart.length; row++) {
    const uncovered = growth.countUncovered(row)
    if (uncovered > 0) rows.push(row, uncovered * flat.width)
  }
  const cover: Rectangle[] = []
  for (let seed = rows.pop(); seed !== undefined; seed = rows.pop()) {
    if (growth.countUncovered(seed) === 0) continue
    const { rectangle, gain } = growth.grow(seed)
    if (gain >= minGainShare * (rows.maxPriority() ?? 0)) {
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
  readonly #isUncovered: Uint8Array
  /** Entry → number of its uncovered cells. */
  readonly #uncovered: Int32Array
  readonly #rowByEntry: Int32Array
  /** Column → entries with uncovered cells; entry → its position in that list. */
  readonly #uncoveredEntries: Entry[][]
  readonly #position: Int32Array
  /** Row → number of the last growth that it was a candidate of. */
  readonly #seen: Int32Array
  /** Column → its index among the columns of the current growth; -1 for others. */
  readonly #indexByColumn: Int32Array
  #growths = 0

  constructor(flat: FlatProblem, random: () => number) {
    const { rowStart, columnByEntry, cellStart } = flat
    this.#flat = flat
    this.#random = random
    this.#isUncovered = new Uint8Array(flat.cells).fill(1)
    this.#uncovered = new Int32Array(columnByEntry.length)
    this.#rowByEntry = new Int32Array(columnByEntry.length)
    this.#uncoveredEntries = flat.takers.map(() => [])
    this.#position = new Int32Array(columnByEntry.length)
    this.#seen = new Int32Array(rowStart.length)
    this.#indexByColumn = new Int32Array(flat.takers.length).fill(-1)
    for (let row = 0; row + 1 < rowStart.length; row++) {
      for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
        this.#rowByEntry[entry] = row
        this.#uncovered[entry] = (cellStart[entry + 1] ?? 0) - (cellStart[entry] ?? 0)
        const entries = this.#uncoveredEntries[columnByEntry[entry] ?? 0] ?? []
        this.#position[entry] = entries.length
        if (this.#uncovered[entry] !== 0) entries.push(entry)
      }
    }
  }

  /** Counts the uncovered cells of a row; a cell counts once for each column that covers it. */
  countUncovered(row: Row): number {
    const { rowStart } = this.#flat
    return addUp(this.#uncovered.subarray(rowStart[row], rowStart[row + 1]))
  }

  /** Grows a rectangle from a row; the next row is the one with which it covers most cells. */
  grow(seed: Row): { rectangle: Rectangle; gain: number } {
    const { rowStart, columnByEntry, width } = this.#flat
    const all = Array.from(columnByEntry.subarray(rowStart[seed], rowStart[seed + 1]))
    const countUncovered = (column: Column): number =>
      this.#uncovered[findEntry(this.#flat, seed, column)] ?? 0
    const columns = pickAlternatives(this.#flat, all, (column) => {
      return countUncovered(column) * Math.min(width, this.#uncoveredEntries[column]?.length ?? 0)
    })
    const candidates = this.#findCandidates(seed, columns)
    const cells = this.#listUncovered(candidates, columns)
    /** Indexes of the columns that all rows so far take. */
    let shared = [...columns.keys()]
    const gains = columns.map(countUncovered)
    const rows = [seed]
    /** Candidate → upper bound of its gain; negative for one that is taken. */
    const bounds = new Int32Array(candidates.length).fill(unbounded)
    let found = { rectangle: { rows: [seed], columns }, gain: addUp(gains) }
    while (rows.length < width) {
      const best = findBestCandidate(bounds, cells, shared, gains)
      if (best === null) break
      rows.push(candidates[best.position] ?? 0)
      const from = best.position * columns.length
      shared = shared.filter((i) => (cells[from + i] ?? -1) >= 0)
      let added = 0
      for (const i of shared) {
        added += cells[from + i] ?? 0
        gains[i] = (gains[i] ?? 0) + (cells[from + i] ?? 0)
      }
      for (let k = 0; k < bounds.length; k++) bounds[k] = (bounds[k] ?? 0) + added
      bounds[best.position] = -unbounded
      if (best.gain > found.gain) {
        found = {
          rectangle: { rows: [...rows], columns: shared.map((i) => columns[i] ?? 0) },
          gain: best.gain,
        }
      }
    }
    return found
  }

  /** Marks the cells of a rectangle as covered. */
  cover({ rows, columns }: Rectangle): void {
    const { rowStart, cellStart, cellList, columnByEntry } = this.#flat
    for (const row of rows) {
      for (const column of columns) {
        const entry = findEntry(this.#flat, row, column)
        for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
          this.#isUncovered[cellList[i] ?? 0] = 0
        }
      }
      for (let entry = rowStart[row] ?? 0; entry < (rowStart[row + 1] ?? 0); entry++) {
        if (this.#uncovered[entry] === 0) continue
        let uncovered = 0
        for (let i = cellStart[entry] ?? 0; i < (cellStart[entry + 1] ?? 0); i++) {
          uncovered += this.#isUncovered[cellList[i] ?? 0] ?? 0
        }
        this.#uncovered[entry] = uncovered
        if (uncovered === 0)
          this.#close(entry, this.#uncoveredEntries[columnByEntry[entry] ?? 0] ?? [])
      }
    }
  }

  #close(entry: Entry, list: Entry[]): void {
    const last = list.pop() ?? entry
    if (last === entry) return
    const position = this.#position[entry] ?? 0
    list[position] = last
    this.#position[last] = position
  }

  /** Finds rows with uncovered cells in these columns, those of rare columns first. */
  #findCandidates(seed: Row, columns: Column[]): Row[] {
    const lists = columns
      .map((column) => this.#uncoveredEntries[column] ?? [])
      .toSorted((a, b) => a.length - b.length)
    const found: Row[] = []
    this.#seen[seed] = ++this.#growths
    for (const list of lists) {
      let position = Math.floor(this.#random() * list.length)
      const until = Math.min(maxCandidates, found.length + maxRowsOfColumn)
      for (let i = 0; i < list.length && found.length < until; i++) {
        const row = this.#rowByEntry[list[position] ?? 0] ?? 0
        if (++position >= list.length) position = 0
        if (this.#seen[row] === this.#growths) continue
        this.#seen[row] = this.#growths
        found.push(row)
      }
    }
    return found
  }

  /** Lists uncovered cells by candidate and column; -1 if a candidate does not take the column. */
  #listUncovered(candidates: Row[], columns: Column[]): Int32Array {
    const { rowStart, columnByEntry } = this.#flat
    const cells = new Int32Array(candidates.length * columns.length).fill(-1)
    for (const [i, column] of columns.entries()) this.#indexByColumn[column] = i
    for (let k = 0; k < candidates.length; k++) {
      const row = candidates[k] ?? 0
      const end = rowStart[row + 1] ?? 0
      for (let entry = rowStart[row] ?? 0; entry < end; entry++) {
        const i = this.#indexByColumn[columnByEntry[entry] ?? 0] ?? -1
        if (i >= 0) cells[k * columns.length + i] = this.#uncovered[entry] ?? 0
      }
    }
    for (const column of columns) this.#indexByColumn[column] = -1
    return cells
  }
}

/**
 * Finds the candidate with which a rectangle covers most uncovered cells. A candidate whose bound
 * is no better is not computed again; its bound is lowered to its gain otherwise.
 */
function findBestCandidate(
  bounds: Int32Array,
  cells: Int32Array,
  shared: number[],
  gains: number[],
): { position: number; gain: number } | null {
  let [found, maxGain] = [-1, -1]
  for (let position = 0; position < bounds.length; position++) {
    if ((bounds[position] ?? 0) <= maxGain) continue
    let gain = 0
    for (let i = 0; i < shared.length; i++) {
      const column = shared[i] ?? 0
      const uncovered = cells[position * gains.length + column] ?? -1
      if (uncovered >= 0) gain += (gains[column] ?? 0) + uncovered
    }
    bounds[position] = gain
    if (gain > maxGain) [found, maxGain] = [position, gain]
  }
  return found < 0 ? null : { position: found, gain: maxGain }
}
