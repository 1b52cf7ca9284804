import { splitIntoChunks } from '../../model/lists.ts'
import type { Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/** Chooses columns that cover a row, in layers that each fit in one rectangle. */
type ChooseColumns = (row: Row) => Column[][]

/**
 * Builds the smallest obvious cover: by equal rows or by single columns, each with whole values or
 * with parts if more rows take them.
 */
export function buildObviousCover(problem: CoverProblem): Rectangle[] {
  const choices: ChooseColumns[] = [
    (row) => buildLayers(problem, chooseWholeColumns(problem, row)),
    (row) => buildLayers(problem, choosePopularColumns(problem, row, counts)),
  ]
  const counts = countTakers(problem)
  const covers = choices.flatMap((choose) => [
    coverEqualRows(problem, choose),
    coverByColumn(problem, choose),
  ])
  return covers.reduce((best, cover) => (cover.length < best.length ? cover : best))
}

/**
 * Finds columns that cover a row, preferring whole values; null if one rectangle can't have them.
 */
export function findWholeColumns(problem: CoverProblem, row: Row): Column[] | null {
  const [first = [], ...more] = buildLayers(problem, chooseWholeColumns(problem, row))
  return more.length > 0 ? null : first
}

function coverEqualRows(problem: CoverProblem, choose: ChooseColumns): Rectangle[] {
  const layersByKey = new Map<string, { rows: Row[]; columns: Column[] }>()
  for (let row = 0; row < problem.rows.length; row++) {
    for (const columns of choose(row)) {
      const key = columns.join()
      const known = layersByKey.get(key)
      if (known === undefined) layersByKey.set(key, { rows: [row], columns })
      else known.rows.push(row)
    }
  }
  return [...layersByKey.values()].flatMap(({ rows, columns }) =>
    splitIntoChunks(rows, problem.width).map((part) => ({ rows: part, columns })),
  )
}

function coverByColumn(problem: CoverProblem, choose: ChooseColumns): Rectangle[] {
  const rows: Row[][] = problem.columns.map(() => [])
  for (let row = 0; row < problem.rows.length; row++)
    for (const column of choose(row).flat()) rows[column]?.push(row)
  return rows.flatMap((columnRows, column) =>
    splitIntoChunks(columnRows, problem.width).map((part) => ({ rows: part, columns: [column] })),
  )
}

/** Chooses the whole value of each item of a row, or all its parts if it has none. */
function chooseWholeColumns({ columns: kinds, rows }: CoverProblem, row: Row): Column[] {
  const columns = [...(rows[row]?.keys() ?? [])]
  const whole = new Set(
    columns.filter((column) => kinds[column]?.mode === 0).map((column) => kinds[column]?.item),
  )
  return columns.filter((column) => kinds[column]?.mode === 0 || !whole.has(kinds[column]?.item))
}

/** Chooses the alternative of each item of a row that most rows can share. */
function choosePopularColumns(problem: CoverProblem, row: Row, counts: number[]): Column[] {
  const { columns: kinds, rows } = problem
  const columns = [...(rows[row]?.keys() ?? [])]
  const rarestPart = new Map<number, number>()
  for (const column of columns) {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    if (mode !== 0)
      rarestPart.set(item, Math.min(rarestPart.get(item) ?? Infinity, counts[column] ?? 0))
  }
  const inParts = new Set(
    columns.flatMap((column) => {
      const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
      return mode === 0 && (counts[column] ?? 0) < (rarestPart.get(item) ?? 0) ? [item] : []
    }),
  )
  const whole = new Set(chooseWholeColumns(problem, row))
  return columns.filter((column) =>
    inParts.has(kinds[column]?.item ?? -1) ? kinds[column]?.mode !== 0 : whole.has(column),
  )
}

/** Distributes columns over layers, so that no layer has two alternatives of an item. */
function buildLayers({ columns: kinds }: CoverProblem, columns: Column[]): Column[][] {
  const modes = new Map<number, number[]>()
  const result: Column[][] = []
  for (const column of columns) {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    const known = modes.get(item) ?? []
    if (!known.includes(mode)) modes.set(item, [...known, mode])
    const layer = known.includes(mode) ? known.indexOf(mode) : known.length
    const columnRows = result[layer]
    if (columnRows === undefined) result[layer] = [column]
    else columnRows.push(column)
  }
  return result
}

function countTakers({ columns, rows }: CoverProblem): number[] {
  const counts = columns.map(() => 0)
  for (const row of rows)
    for (const column of row.keys()) counts[column] = (counts[column] ?? 0) + 1
  return counts
}
