import { findMin } from '../../model/append.ts'
import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { searchCover } from './search-cover.ts'
import { buildTable } from './table.ts'
import { countCoverage } from './remove-redundancy.ts'

/** Limits of the search for one rectangle less. */
export interface SearchEffort {
  stepsPerCell: number
  /**
   * Maximum steps × rectangles, since a step scans the rectangles: per size of the cover, and in
   * all.
   */
  work: number
  totalWork: number
}

/**
 * Removes one rectangle after another and repairs the cover by tabu search, until that fails.
 *
 * @param target a lower bound of the number of rectangles, where the search ends
 */
export function searchFewer(
  problem: CoverProblem,
  start: Rectangle[],
  target: number,
  effort: SearchEffort,
  random: () => number,
): Rectangle[] {
  if (start.length <= Math.max(1, target)) return start
  const table = buildTable(problem)
  let best = start
  let left = effort.totalWork
  while (best.length > Math.max(1, target)) {
    const removed = findLeastUseful(problem, best)
    const steps = Math.min(
      effort.stepsPerCell * problem.cells,
      Math.ceil(Math.min(effort.work, left) / best.length),
    )
    const { found, made } = searchCover(
      table,
      best.flatMap(({ rows }, i) => (i === removed ? [] : [rows])),
      steps,
      random,
    )
    if (found === null) break
    left -= made * best.length
    best = found
  }
  return best
}

/** Finds the index of the rectangle that covers fewest cells alone. */
function findLeastUseful(problem: CoverProblem, rectangles: Rectangle[]): number {
  const count = countCoverage(problem, rectangles)
  const soleCells = rectangles.map(({ rows, columns }) =>
    rows.reduce(
      (sum, row) =>
        columns.reduce(
          (cellSum, column) =>
            cellSum +
            (problem.rows[row]?.get(column) ?? []).filter((cell) => count[cell] === 1).length,
          sum,
        ),
      0,
    ),
  )
  return soleCells.indexOf(findMin(soleCells))
}
