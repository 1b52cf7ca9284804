import { createRandom } from '../../src/core/plan/assign-waves.ts'
import type { Mix } from './fleet-mixes.ts'

const seeds = 40
const width = 10

/**
 * Counts the writes of a plain greedy search. Each step grows rectangles from 40 random rows,
 * always by the row that meets most open needs, and keeps the best rectangle.
 */
export function countGreedyWrites(mix: Mix): number {
  const random = createRandom(40)
  const numbers = new Map<string, number>()
  const rows = mix.map((own) =>
    own.map(([item, value]) => assignNumber(numbers, `${item} ${value}`)),
  )
  const takers = Array.from(numbers, (): number[] => [])
  for (const [row, columns] of rows.entries())
    for (const column of columns) takers[column]?.push(row)
  const unmet = rows.map((columns) => new Set(columns))
  const open = [...rows.keys()]
  const met = new Int32Array(rows.length)
  let writes = 0
  while (open.length > 0) {
    let best: Grown = { rows: [], columns: [], gain: 0 }
    for (let i = 0; i < seeds; i++) {
      const seed = open[Math.floor(random() * open.length)] ?? 0
      const found = growRectangle(seed, { rows, unmet, takers, met })
      if (found.gain > best.gain) best = found
    }
    for (const row of best.rows) for (const column of best.columns) unmet[row]?.delete(column)
    for (let i = open.length - 1; i >= 0; i--) {
      if (unmet[open[i] ?? 0]?.size !== 0) continue
      open[i] = open.at(-1) ?? 0
      open.pop()
    }
    writes++
  }
  return writes
}

interface Table {
  rows: number[][]
  /** Row → columns that are not met. */
  unmet: Set<number>[]
  /** Column → rows that need it. */
  takers: number[][]
  /** Buffer: row → number of needs that the rectangle meets with this row. */
  met: Int32Array
}

interface Grown {
  rows: number[]
  columns: number[]
  gain: number
}

/** Grows a rectangle row by row for as long as it meets more needs. */
function growRectangle(seed: number, { rows: all, unmet, takers, met }: Table): Grown {
  let rectangle: Grown = { rows: [seed], columns: all[seed] ?? [], gain: unmet[seed]?.size ?? 0 }
  while (rectangle.rows.length < width) {
    const touched = new Set<number>()
    for (const column of rectangle.columns) {
      const own = rectangle.rows.reduce((sum, row) => sum + (unmet[row]?.has(column) ? 1 : 0), 0)
      for (const row of takers[column] ?? []) {
        met[row] =
          (touched.has(row) ? (met[row] ?? 0) : 0) + own + (unmet[row]?.has(column) ? 1 : 0)
        touched.add(row)
      }
    }
    for (const row of rectangle.rows) touched.delete(row)
    let [next, gain] = [-1, rectangle.gain]
    for (const row of touched) {
      if ((met[row] ?? 0) > gain) [next, gain] = [row, met[row] ?? 0]
    }
    if (next < 0) break
    const columns = rectangle.columns.filter((column) => all[next]?.includes(column))
    rectangle = { rows: [...rectangle.rows, next], columns, gain }
  }
  return rectangle
}

function assignNumber(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key) ?? numbers.size
  numbers.set(key, known)
  return known
}
