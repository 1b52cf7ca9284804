import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { flatten } from './flat-problem.ts'
import { growCover } from './grow-cover.ts'
import { priceBound } from './price-bound.ts'
import { searchLarge, type LargeEffort, type Progress } from './search-large.ts'
import { searchParts, type PartsEffort } from './search-parts.ts'

/** How much work a large cover may be. */
export interface CoverLargeEffort {
  whole: LargeEffort
  parts: PartsEffort
}

/** Sets of columns that a first bound goes through. */
const firstSets = 1_000_000

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
  { whole, parts }: CoverLargeEffort,
  random: () => number,
  progress?: Progress,
): Rectangle[] {
  const flat = flatten(problem)
  const grown = growCover(flat, random)
  const start = grown.length <= obvious.length ? grown : obvious
  // Some fleets are grown as well as can be: that is soon proven.
  const least = Math.max(target, priceBound(problem, start, { rounds: 1, sets: firstSets }))
  if (start.length <= least) return start
  const fewer = searchLarge(flat, start, least, whole, random, progress)
  return searchParts(problem, fewer, least, parts, random, progress)
}
