import type { Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/**
 * Takes out of each rectangle the rows and columns whose cells others cover as well, those that
 * save most first, so that as little as possible is sent twice. What is left covers the same cells.
 */
export function removeRedundancy(problem: CoverProblem, rectangles: Rectangle[]): Rectangle[] {
  const count = countCoverage(problem, rectangles)
  return rectangles.flatMap((rectangle) => {
    let { rows, columns } = rectangle
    const spare = (row: Row, column: Column): boolean =>
      cellsOf(problem, row, column).every((cell) => (count[cell] ?? 0) > 1)
    const release = (gone: Row[], from: Column[]): void => {
      for (const row of gone)
        for (const column of from)
          for (const cell of cellsOf(problem, row, column)) count[cell] = (count[cell] ?? 0) - 1
    }
    for (;;) {
      const row = rows.find((each) => columns.every((column) => spare(each, column)))
      const column = columns.find((each) => rows.every((other) => spare(other, each)))
      if (row === undefined && column === undefined) break
      if (column === undefined || (row !== undefined && columns.length >= rows.length)) {
        release([row ?? 0], columns)
        rows = rows.filter((each) => each !== row)
      } else {
        release(rows, [column])
        columns = columns.filter((each) => each !== column)
      }
    }
    return rows.length > 0 && columns.length > 0 ? [{ rows, columns }] : []
  })
}

/** How many of these rectangles cover each cell. */
export function countCoverage(problem: CoverProblem, rectangles: Rectangle[]): Int32Array {
  const count = new Int32Array(problem.cells)
  for (const { rows, columns } of rectangles) {
    for (const row of rows)
      for (const column of columns)
        for (const cell of cellsOf(problem, row, column)) count[cell] = (count[cell] ?? 0) + 1
  }
  return count
}

function cellsOf(problem: CoverProblem, row: Row, column: Column): number[] {
  return problem.rows[row]?.get(column) ?? []
}
