import { addUp } from '../../model/lists.ts'
import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { createRandom } from '../assign-waves.ts'
import { flatten, type FlatProblem } from './flat-problem.ts'
import { growCover } from './grow-cover.ts'
import type { Parallel, Progress, TaskKind } from '../../model/parallel.ts'
import { computePriceBound, type PriceEffort } from './price-bound.ts'
import { TabuMoves } from './tabu-moves.ts'
import type { PlacedRectangle, Placement } from './placement.ts'

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

/** Limits of the search for a smaller cover. */
interface TabuEffort {
  /** Maximum moves for each rectangle of the initial cover, for each pair of them, and in all. */
  stepsPerRectangle: number
  stepsPerPair: number
  maxSteps: number
  /** Maximum steps for each removed rectangle, before the search restarts from another cover. */
  patience: number
}

/** Maximum number of least useful rectangles from which one is drawn to remove after a failure. */
const maxDrawnRectangles = 50
/** Share of the rectangles that are removed at once, until that fails. */
const removedShare = 0.005
/** Steps between reports of progress. */
const stepsPerReport = 1_000

/**
 * Removes some rectangles and repairs the cover by tabu search, again and again, as long as the
 * effort allows. If that fails, the incumbent is restored and half as many are removed. A single
 * rectangle is then reinserted elsewhere, which may give another cover of the same size.
 *
 * @param target a lower bound of the number of rectangles, where the search ends
 */
function improveCover(
  flat: FlatProblem,
  start: Rectangle[],
  target: number,
  { stepsPerRectangle, stepsPerPair, maxSteps, patience }: TabuEffort,
  random: () => number,
  progress: Progress,
): Rectangle[] {
  const moves = new TabuMoves(flat, start, random)
  const { placement } = moves
  const least = Math.max(1, target)
  const perRectangle = Math.min(stepsPerRectangle, stepsPerPair * start.length)
  const steps = Math.min(maxSteps, perRectangle * start.length)
  let incumbent: PlacedRectangle[] = [...placement.rectangles]
  let batch = Math.max(1, Math.round(removedShare * start.length))
  let lastCover = 0
  let wasReinserted = false
  const remove = (drawn: number): void => {
    const count = Math.min(batch, placement.live.size - least)
    removeRectangles(placement, count, drawn, random)
  }
  for (let step = 0; step < steps;) {
    if (placement.uncovered.size === 0) {
      incumbent = [...placement.rectangles]
      if (placement.live.size <= least) break
      remove(wasReinserted ? maxDrawnRectangles : batch)
      lastCover = step
      wasReinserted = false
    } else if (step - lastCover <= patience * batch) {
      moves.advance()
      if (++step % stepsPerReport === 0) progress(step, steps)
    } else {
      placement.resetWeights()
      if (batch > 1 || wasReinserted) {
        batch = Math.ceil(batch / 2)
        restore(placement, incumbent)
        remove(maxDrawnRectangles)
        wasReinserted = false
      } else {
        reinsertRectangle(placement, random)
        wasReinserted = true
      }
      lastCover = step
    }
  }
  progress(steps, steps)
  return incumbent.flatMap(({ rows, columns }) => (rows.length > 0 ? [{ rows, columns }] : []))
}

/** Removes `count` rectangles, drawn from the `drawn` that cover least alone. */
function removeRectangles(
  placement: Placement,
  count: number,
  drawn: number,
  random: () => number,
): void {
  const byLoss = [...placement.live]
    .map((id) => ({ id, loss: addUp(placement.rectangles[id]?.columnLoss ?? []) }))
    .toSorted((a, b) => a.loss - b.loss || a.id - b.id)
    .slice(0, Math.max(count, drawn))
  for (let i = 0; i < count; i++) {
    const index = byLoss.length > 1 ? Math.floor(random() * byLoss.length) : 0
    const [removed] = byLoss.splice(index, 1)
    placement.place(removed?.id ?? 0, [], [])
  }
}

/** Reinserts a removed rectangle at one uncovered cell. */
function reinsertRectangle(placement: Placement, random: () => number): void {
  const { flat, uncovered, rectangles } = placement
  const cell = uncovered.at(Math.floor(random() * uncovered.size))
  const column = flat.coveredBy[cell]?.[0] ?? 0
  const id = rectangles.findIndex(({ rows }) => rows.length === 0)
  placement.place(id, [flat.rowByCell[cell] ?? 0], [column])
}

/** Moves all rectangles to their places in a cover. */
function restore(placement: Placement, cover: PlacedRectangle[]): void {
  for (const [id, { rows, columns }] of cover.entries()) {
    if (placement.rectangles[id]?.rows !== rows) placement.place(id, rows, columns)
  }
}
