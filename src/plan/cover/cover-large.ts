import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { flatten } from './flat-problem.ts'
import { growCover } from './grow-cover.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { searchLarge, type LargeEffort, type Progress } from './search-large.ts'
import { searchNeighbourhoods, type NeighbourhoodEffort } from './search-neighbourhoods.ts'

/** How much work a large cover may be. */
export interface CoverLargeEffort {
  /** See `growCover`. */
  enough: number
  /** May prove that the search can be left out. */
  firstBound: PriceEffort
  whole: LargeEffort
  parts: NeighbourhoodEffort
}

/**
 * Covers a large problem: grows a cover from the rows, and searches for fewer rectangles all over
 * it, then in parts of it.
 *
 * @param obvious a cover to begin with where the grown one is larger
 * @param target no cover can have fewer
 */
export function coverLarge(
  problem: CoverProblem,
  obvious: Rectangle[],
  target: number,
  { enough, firstBound, whole, parts }: CoverLargeEffort,
  random: () => number,
  progress?: Progress,
): Rectangle[] {
  const flat = flatten(problem)
  const grown = growCover(flat, enough, random)
  const start = grown.length <= obvious.length ? grown : obvious
  // Some fleets are grown as well as can be: that is soon proven.
  const least = Math.max(target, computePriceBound(problem, start, firstBound))
  if (start.length <= least) return start
  const fewer = searchLarge(flat, start, least, whole, random, progress)
  return searchNeighbourhoods(problem, fewer, least, parts, random, progress)
}
