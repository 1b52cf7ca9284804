import type { Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/**
 *  * Removes rows and columns of rectangles whose cells other rectangles cover too, those that save
 * most first, so that little is sent twice. The result covers the same cells.
 */
export function removeRedundancy(problem: CoverProblem, rectangles: Rectangle[]): Rectangle[] {
  const count = countCoverage(problem, rectangles)
  return rectangles.flatMap((rectangle) => {
    let { rows, columns } = rectangle
    const isRedundant = (row: Row, column: Column): boolean =>
      getCells(problem, row, column).every((cell) => (count[cell] ?? 0) > 1)
    const release = (droppedRows: Row[], droppedColumns: Column[]): void => {
      for (const row of droppedRows)
        for (const column of droppedColumns)
          for (const cell of getCells(problem, row, column)) count[cell] = (count[cell] ?? 0) - 1
    }
    for (;;) {
      const row = rows.find((each) => columns.every((column) => isRedundant(each, column)))
      const column = columns.find((each) => rows.every((other) => isRedundant(other, each)))
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

/** Counts for each cell the rectangles that cover it. */
export function countCoverage(problem: CoverProblem, rectangles: Rectangle[]): Int32Array {
  const count = new Int32Array(problem.cells)
  for (const { rows, columns } of rectangles) {
    for (const row of rows)
      for (const column of columns)
        for (const cell of getCells(problem, row, column)) count[cell] = (count[cell] ?? 0) + 1
  }
  return count
}

function getCells(problem: CoverProblem, row: Row, column: Column): number[] {
  return problem.rows[row]?.get(column) ?? []
}
