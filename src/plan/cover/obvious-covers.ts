import type { Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/**
 * For each row the columns that it would be sent by, in layers of which each can travel in one
 * rectangle.
 */
type Choice = (row: Row) => Column[][]

/**
 * The best of the obvious covers: rows that are equal in all columns together, or one column at a
 * time; with whole values, or with parts where more rows take them.
 */
export function buildObviousCover(problem: CoverProblem): Rectangle[] {
  const choices: Choice[] = [
    (row) => layers(problem, wholes(problem, row)),
    (row) => layers(problem, popular(problem, row, takers)),
  ]
  const takers = takersOf(problem)
  const covers = choices.flatMap((choice) => [
    equalRows(problem, choice),
    oneColumn(problem, choice),
  ])
  return covers.reduce((best, cover) => (cover.length < best.length ? cover : best))
}

/**
 * All that a row needs in one rectangle, whole values where there are any; null where it takes more
 * than one.
 */
export function findWholeColumns(problem: CoverProblem, row: Row): Column[] | null {
  const [first = [], ...more] = layers(problem, wholes(problem, row))
  return more.length > 0 ? null : first
}

/** Rows in parts of at most `size`. */
export function chunkRows(rows: Row[], size: number): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) =>
    rows.slice(i * size, (i + 1) * size),
  )
}

function equalRows(problem: CoverProblem, choice: Choice): Rectangle[] {
  const layersOf = new Map<string, { rows: Row[]; columns: Column[] }>()
  for (let row = 0; row < problem.rows.length; row++) {
    for (const columns of choice(row)) {
      const key = columns.join()
      const found = layersOf.get(key)
      if (found === undefined) layersOf.set(key, { rows: [row], columns })
      else found.rows.push(row)
    }
  }
  return [...layersOf.values()].flatMap(({ rows, columns }) =>
    chunkRows(rows, problem.width).map((part) => ({ rows: part, columns })),
  )
}

function oneColumn(problem: CoverProblem, choice: Choice): Rectangle[] {
  const rows: Row[][] = problem.columns.map(() => [])
  for (let row = 0; row < problem.rows.length; row++)
    for (const column of choice(row).flat()) rows[column]?.push(row)
  return rows.flatMap((own, column) =>
    chunkRows(own, problem.width).map((part) => ({ rows: part, columns: [column] })),
  )
}

/** For each item of a row its whole value, or all its parts where it has none. */
function wholes({ columns: kinds, rows }: CoverProblem, row: Row): Column[] {
  const columns = [...(rows[row]?.keys() ?? [])]
  const whole = new Set(
    columns.filter((column) => kinds[column]?.mode === 0).map((column) => kinds[column]?.item),
  )
  return columns.filter((column) => kinds[column]?.mode === 0 || !whole.has(kinds[column]?.item))
}

/** For each item of a row the way that most rows could share. */
function popular(problem: CoverProblem, row: Row, takers: number[]): Column[] {
  const { columns: kinds, rows } = problem
  const columns = [...(rows[row]?.keys() ?? [])]
  const rarestPart = new Map<number, number>()
  for (const column of columns) {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    if (mode !== 0)
      rarestPart.set(item, Math.min(rarestPart.get(item) ?? Infinity, takers[column] ?? 0))
  }
  const inParts = new Set(
    columns.flatMap((column) => {
      const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
      return mode === 0 && (takers[column] ?? 0) < (rarestPart.get(item) ?? 0) ? [item] : []
    }),
  )
  const whole = new Set(wholes(problem, row))
  return columns.filter((column) =>
    inParts.has(kinds[column]?.item ?? -1) ? kinds[column]?.mode !== 0 : whole.has(column),
  )
}

/** Columns in as many layers as an item has rival ways among them. */
function layers({ columns: kinds }: CoverProblem, columns: Column[]): Column[][] {
  const modes = new Map<number, number[]>()
  const result: Column[][] = []
  for (const column of columns) {
    const { item, mode } = kinds[column] ?? { item: -1, mode: 0 }
    const known = modes.get(item) ?? []
    if (!known.includes(mode)) modes.set(item, [...known, mode])
    const layer = known.includes(mode) ? known.indexOf(mode) : known.length
    const own = result[layer]
    if (own === undefined) result[layer] = [column]
    else own.push(column)
  }
  return result
}

function takersOf({ columns, rows }: CoverProblem): number[] {
  const takers = columns.map(() => 0)
  for (const row of rows)
    for (const column of row.keys()) takers[column] = (takers[column] ?? 0) + 1
  return takers
}
