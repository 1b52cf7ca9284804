import type { Rectangle } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'
import { TabuMoves } from './tabu-moves.ts'
import type { Progress } from '../../model/parallel.ts'
import type { PlacedRectangle, Placement } from './placement.ts'

/** Limits of the search for a smaller cover. */
export interface TabuEffort {
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
export function improveCover(
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
    .map((id) => ({ id, loss: sum(placement.rectangles[id]?.columnLoss ?? []) }))
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

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
