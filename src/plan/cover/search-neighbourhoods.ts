import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { flatten } from './flat-problem.ts'
import { growNeighbourhood } from './grow-neighbourhood.ts'
import { cutSubproblem } from './subproblem.ts'
import { searchLarge, type Progress } from './search-large.ts'
import { countCoverage } from './remove-redundancy.ts'

/** Limits of the large neighbourhood search. */
export interface NeighbourhoodEffort {
  /** Number of rectangles of a neighbourhood. */
  size: number
  stepsPerRectangle: number
  /** Average number of neighbourhoods that contain a rectangle, and maximum number of them. */
  rounds: number
  maxNeighbourhoods: number
}

/**
 * Improves a cover by large neighbourhood search: repeatedly re-optimises a neighbourhood of
 * related rectangles and keeps the rest. The weights of uncovered cells take effect quickly in a
 * small neighbourhood, but not in the cover of a whole fleet.
 */
export function searchNeighbourhoods(
  problem: CoverProblem,
  start: Rectangle[],
  target: number,
  { size, stepsPerRectangle, rounds, maxNeighbourhoods }: NeighbourhoodEffort,
  random: () => number,
  progress: Progress = () => undefined,
): Rectangle[] {
  const neighbourhoods = Math.min(maxNeighbourhoods, Math.ceil((rounds * start.length) / size))
  const effort = { stepsPerRectangle, maxSteps: stepsPerRectangle * size, patience: Infinity }
  const visits = new Map(start.map((rectangle) => [rectangle, 0]))
  let cover = start
  for (let round = 0; round < neighbourhoods && cover.length > target; round++) {
    const minVisits = cover.reduce((min, each) => Math.min(min, visits.get(each) ?? 0), Infinity)
    const seeds = [...cover.keys()].filter(
      (i) => visits.get(cover[i] ?? { rows: [], columns: [] }) === minVisits,
    )
    const neighbourhood = new Set(
      growNeighbourhood(cover, seeds[Math.floor(random() * seeds.length)] ?? 0, size),
    )
    const others = cover.filter((_, i) => !neighbourhood.has(i))
    const chosen = cover.filter((_, i) => neighbourhood.has(i))
    const covered = countCoverage(problem, others)
    const rows = [...new Set(chosen.flatMap((rectangle) => rectangle.rows))].toSorted(
      (a, b) => a - b,
    )
    const subproblem = cutSubproblem(problem, rows, (cell) => covered[cell] === 0)
    const before = chosen.map((rectangle) => subproblem.toInner(rectangle))
    const found = searchLarge(flatten(subproblem.problem), before, 1, effort, random)
    const after = found.map((rectangle) => subproblem.toOuter(rectangle))
    const visitCount = (visits.get(cover[seeds[0] ?? 0] ?? { rows: [], columns: [] }) ?? 0) + 1
    for (const rectangle of after) visits.set(rectangle, visitCount)
    cover = [...others, ...after]
    progress(round + 1, neighbourhoods)
  }
  return cover
}
