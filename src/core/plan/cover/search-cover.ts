import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { createRandom } from '../assign-waves.ts'
import { flatten } from './flat-problem.ts'
import { growCover } from './grow-cover.ts'
import type { Parallel, Progress, TaskKind } from '../../model/parallel.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { improveCover, type TabuEffort } from './tabu-search.ts'

/** Limits of the work for a cover. */
export interface SearchEffort {
  /** Number of covers that are grown and searched, with random numbers of their own. */
  starts: number
  /** See `growCover`. */
  minGainShare: number
  /** First bound, which may prove that no search is needed; without rounds there is none. */
  firstBound: PriceEffort
  search: TabuEffort
}

/** A cover, and the greedy one that the search started from. */
interface SearchedCover {
  cover: Rectangle[]
  start: Rectangle[]
}

/**
 * Covers a problem: grows several covers greedily, improves each by tabu search, and returns the
 * smallest. Searches of parts of a cover, joined again and again, found less in the same time.
 *
 * @param obvious the start if the greedy cover is larger
 * @param target a lower bound of the number of rectangles
 */
export function searchCover(
  problem: CoverProblem,
  obvious: Rectangle[],
  target: number,
  { starts, minGainShare, firstBound, search: effort }: SearchEffort,
  parallel: Parallel,
  progress?: Progress,
): SearchedCover {
  const seeds = Array.from({ length: starts }, (_, i) => i + 1)
  const grown = parallel.run(
    growFromSeed,
    seeds.map((seed) => ({ problem, minGainShare, seed })),
  )
  const covers = grown.map((cover) => (cover.length <= obvious.length ? cover : obvious))
  const start = findSmallest(covers)
  // The greedy cover of some fleets is optimal, and the first bound proves it quickly.
  const lowerBound = Math.max(target, computePriceBound(problem, [start], firstBound, parallel))
  if (start.length <= lowerBound) return { cover: start, start }
  const tasks = covers.map((cover, i) => ({
    problem,
    cover,
    target: lowerBound,
    effort,
    seed: starts + i + 1,
  }))
  return { cover: findSmallest(parallel.run(searchFromCover, tasks, { progress })), start }
}

interface GrowTask {
  problem: CoverProblem
  minGainShare: number
  seed: number
}

export const growFromSeed: TaskKind<GrowTask, Rectangle[]> = {
  name: 'grow-from-seed',
  minBytes: 50_000,
  run: ({ problem, minGainShare, seed }) =>
    growCover(flatten(problem), minGainShare, createRandom(seed)),
}

interface SearchTask {
  problem: CoverProblem
  cover: Rectangle[]
  target: number
  effort: TabuEffort
  seed: number
}

export const searchFromCover: TaskKind<SearchTask, Rectangle[]> = {
  name: 'search-from-cover',
  minBytes: 50_000,
  run: ({ problem, cover, target, effort, seed }, { progress }) =>
    improveCover(flatten(problem), cover, target, effort, createRandom(seed), progress),
}

/** Finds the first of the smallest covers. */
function findSmallest(covers: Rectangle[][]): Rectangle[] {
  return covers.reduce((best, cover) => (cover.length < best.length ? cover : best))
}
