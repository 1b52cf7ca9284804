import { createRandom } from '../src/plan/cover/create-random.ts'
import type { Mix } from './fleet-mixes.ts'

const seeds = 40
const width = 10

/**
 * Counts the writes of a plain greedy search: rectangles grown from 40 random rows a step, each by
 * the row that adds most needs not met yet; the best one of a step is taken.
 */
export function countGreedyWrites(mix: Mix): number {
  const random = createRandom(40)
  const numbers = new Map<string, number>()
  const rows = mix.map((own) => own.map(([item, value]) => number(numbers, `${item} ${value}`)))
  const takers = Array.from(numbers, (): number[] => [])
  for (const [row, columns] of rows.entries())
    for (const column of columns) takers[column]?.push(row)
  const left = rows.map((columns) => new Set(columns))
  const open = [...rows.keys()]
  const met = new Int32Array(rows.length)
  let writes = 0
  while (open.length > 0) {
    let best: Grown = { rows: [], columns: [], gain: 0 }
    for (let i = 0; i < seeds; i++) {
      const seed = open[Math.floor(random() * open.length)] ?? 0
      const found = grown(seed, { rows, left, takers, met })
      if (found.gain > best.gain) best = found
    }
    for (const row of best.rows) for (const column of best.columns) left[row]?.delete(column)
    for (let i = open.length - 1; i >= 0; i--) {
      if (left[open[i] ?? 0]?.size !== 0) continue
      open[i] = open.at(-1) ?? 0
      open.pop()
    }
    writes++
  }
  return writes
}

interface Table {
  rows: number[][]
  /** Of each row the columns that nothing meets yet. */
  left: Set<number>[]
  /** Of each column the rows that need it. */
  takers: number[][]
  /** Room to count in: for each row the needs that it would let a rectangle meet. */
  met: Int32Array
}

interface Grown {
  rows: number[]
  columns: number[]
  gain: number
}

/** Grows a rectangle row by row for as long as it meets more needs. */
function grown(seed: number, { rows: all, left, takers, met }: Table): Grown {
  let rectangle: Grown = { rows: [seed], columns: all[seed] ?? [], gain: left[seed]?.size ?? 0 }
  while (rectangle.rows.length < width) {
    const touched = new Set<number>()
    for (const column of rectangle.columns) {
      const own = rectangle.rows.reduce((sum, row) => sum + (left[row]?.has(column) ? 1 : 0), 0)
      for (const row of takers[column] ?? []) {
        met[row] = (touched.has(row) ? (met[row] ?? 0) : 0) + own + (left[row]?.has(column) ? 1 : 0)
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

function number(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key) ?? numbers.size
  numbers.set(key, known)
  return known
}
