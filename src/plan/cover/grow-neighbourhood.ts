import type { Rectangle } from './cover-problem.ts'
import { MaxHeap } from './max-heap.ts'

/**
 * Grows a neighbourhood of closely related rectangles. The next rectangle is the one that shares
 * most rows and columns with those found; rare rows and columns count more.
 *
 * @returns indexes in the cover
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
  const spread = (indexes: number[], worth: number): void => {
    for (const index of indexes) {
      if (found.has(index)) continue
      const sum = (closeness[index] ?? 0) + worth / indexes.length
      closeness[index] = sum
      heap.push(index, sum)
    }
  }
  heap.push(seed, 1)
  for (let next = heap.pop(); next !== undefined && found.size < size; next = heap.pop()) {
    if (found.has(next)) continue
    found.add(next)
    const { rows = [], columns = [] } = cover[next] ?? {}
    for (const row of rows) spread(byRow.get(row) ?? [], 1)
    for (const column of columns) spread(byColumn.get(column) ?? [], columnWeight)
  }
  return [...found]
}

/** Weight of a shared column; that of a shared row is 1. */
const columnWeight = 3

function push(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
