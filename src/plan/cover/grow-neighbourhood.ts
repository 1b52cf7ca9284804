import type { Rectangle } from './cover-problem.ts'
import { MaxHeap } from './max-heap.ts'

/**
 * Finds rectangles that have most to do with each other: grows from one of them, each time by the
 * one that shares most rows and columns with those found, where what few have counts most.
 *
 * @returns their places in the cover
 */
export function growNeighbourhood(cover: Rectangle[], seed: number, size: number): number[] {
  const byRow = new Map<number, number[]>()
  const byColumn = new Map<number, number[]>()
  for (const [i, { rows, columns }] of cover.entries()) {
    for (const row of rows) push(byRow, row, i)
    for (const column of columns) push(byColumn, column, i)
  }
  const closeness = new Float64Array(cover.length)
  const found = new Set<number>()
  const heap = new MaxHeap()
  const spread = (places: number[], worth: number): void => {
    for (const place of places) {
      if (found.has(place)) continue
      const sum = (closeness[place] ?? 0) + worth / places.length
      closeness[place] = sum
      heap.push(place, sum)
    }
  }
  heap.push(seed, 1)
  for (let next = heap.pop(); next !== undefined && found.size < size; next = heap.pop()) {
    if (found.has(next)) continue
    found.add(next)
    const { rows = [], columns = [] } = cover[next] ?? {}
    for (const row of rows) spread(byRow.get(row) ?? [], 1)
    for (const column of columns) spread(byColumn.get(column) ?? [], columnWorth)
  }
  return [...found]
}

/** How much sharing a column counts, where sharing a row counts 1. */
const columnWorth = 3

function push(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
