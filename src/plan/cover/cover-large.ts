import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { flatten } from './flat-problem.ts'
import { growCover } from './grow-cover.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { searchLarge, type LargeEffort, type Progress } from './search-large.ts'
import { searchNeighbourhoods, type NeighbourhoodEffort } from './search-neighbourhoods.ts'

/** Limits of the work for a large cover. */
export interface CoverLargeEffort {
  /** See `growCover`. */
  minGainShare: number
  /** First bound, which may prove that no search is needed. */
  firstBound: PriceEffort
  whole: LargeEffort
  neighbourhoods: NeighbourhoodEffort
}

/**
 * Covers a large problem: grows a cover greedily, improves it by tabu search of the whole cover,
 * then by large neighbourhood search.
 *
 * @param obvious the start if the greedy cover is larger
 * @param target a lower bound of the number of rectangles
 */
export function coverLarge(
  problem: CoverProblem,
  obvious: Rectangle[],
  target: number,
  { minGainShare, firstBound, whole, neighbourhoods }: CoverLargeEffort,
  random: () => number,
  progress?: Progress,
): Rectangle[] {
  const flat = flatten(problem)
  const grown = growCover(flat, minGainShare, random)
  const start = grown.length <= obvious.length ? grown : obvious
  // The greedy cover of some fleets is optimal, and the first bound proves it quickly.
  const lowerBound = Math.max(target, computePriceBound(problem, start, firstBound))
  if (start.length <= lowerBound) return start
  const fewer = searchLarge(flat, start, lowerBound, whole, random, progress)
  return searchNeighbourhoods(problem, fewer, lowerBound, neighbourhoods, random, progress)
}
