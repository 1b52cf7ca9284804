import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { searchCover } from './search-cover.ts'
import { buildTable } from './table.ts'
import { countCoverage } from './remove-redundancy.ts'

/** How long is searched for one rectangle less. */
export interface SearchEffort {
  stepsPerCell: number
  /**
   * Steps × rectangles, as a step looks at most of them: for one number of rectangles, and
   * altogether.
   */
  work: number
  totalWork: number
}

/**
 * Takes one rectangle after another away and mends the cover, until that does not succeed any more.
 *
 * @param target no cover can have fewer, so with so many the search is over
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
    const least = leastUseful(problem, best)
    const steps = Math.min(
      effort.stepsPerCell * problem.cells,
      Math.ceil(Math.min(effort.work, left) / best.length),
    )
    const { found, made } = searchCover(
      table,
      best.flatMap(({ rows }, i) => (i === least ? [] : [rows])),
      steps,
      random,
    )
    if (found === null) break
    left -= made * best.length
    best = found
  }
  return best
}

/** The place of the rectangle without which the fewest cells stay uncovered. */
function leastUseful(problem: CoverProblem, rectangles: Rectangle[]): number {
  const count = countCoverage(problem, rectangles)
  const alone = rectangles.map(({ rows, columns }) =>
    rows.reduce(
      (sum, row) =>
        columns.reduce(
          (own, column) =>
            own + (problem.rows[row]?.get(column) ?? []).filter((cell) => count[cell] === 1).length,
          sum,
        ),
      0,
    ),
  )
  return alone.indexOf(Math.min(...alone))
}
