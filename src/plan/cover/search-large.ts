import type { Rectangle } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'
import { LargeMoves } from './large-moves.ts'
import type { PlacedRectangle, Placement } from './placement.ts'

/** Limits of the search of a large cover. */
export interface LargeEffort {
  /** Maximum moves for each rectangle of the initial cover, and in all. */
  stepsPerRectangle: number
  maxSteps: number
  /** Maximum steps without a full cover before the search restarts from another one. */
  patience: number
}

/** Called regularly with the number of steps made and the maximum. */
export type Progress = (made: number, all: number) => void

/** Maximum number of least useful rectangles from which one is drawn to remove after a failure. */
const maxDrawnRectangles = 50
/** Steps between reports of progress. */
const stepsPerReport = 1_000

/**
 * Removes one rectangle after another and repairs the cover by tabu search, as long as the effort
 * allows. If that fails, the rectangle is reinserted elsewhere, which may give another cover of the
 * same size; if that fails too, the incumbent is restored.
 *
 * @param target a lower bound of the number of rectangles, where the search ends
 */
export function searchLarge(
  flat: FlatProblem,
  start: Rectangle[],
  target: number,
  { stepsPerRectangle, maxSteps, patience }: LargeEffort,
  random: () => number,
  progress: Progress = () => undefined,
): Rectangle[] {
  const moves = new LargeMoves(flat, start, random)
  const { placement } = moves
  const steps = Math.min(maxSteps, stepsPerRectangle * start.length)
  let incumbent: PlacedRectangle[] = [...placement.rectangles]
  let lastCover = 0
  let wasReinserted = false
  for (let step = 0; step < steps;) {
    if (placement.uncovered.size === 0) {
      incumbent = [...placement.rectangles]
      if (placement.live.size <= Math.max(1, target)) break
      removeRectangle(placement, wasReinserted ? maxDrawnRectangles : 1, random)
      lastCover = step
      wasReinserted = false
    } else if (step - lastCover <= patience) {
      moves.advance()
      if (++step % stepsPerReport === 0) progress(step, steps)
    } else {
      placement.resetWeights()
      if (wasReinserted) {
        restore(placement, incumbent)
        removeRectangle(placement, maxDrawnRectangles, random)
      } else reinsertRectangle(placement, random)
      lastCover = step
      wasReinserted = !wasReinserted
    }
  }
  progress(steps, steps)
  return incumbent.flatMap(({ rows, columns }) => (rows.length > 0 ? [{ rows, columns }] : []))
}

/** Removes one of the `drawn` rectangles that cover least alone. */
function removeRectangle(placement: Placement, drawn: number, random: () => number): void {
  const byLoss = [...placement.live]
    .map((id) => ({ id, loss: sum(placement.rectangles[id]?.columnLoss ?? []) }))
    .toSorted((a, b) => a.loss - b.loss || a.id - b.id)
  const index = drawn === 1 ? 0 : Math.floor(random() * Math.min(drawn, byLoss.length))
  placement.place(byLoss[index]?.id ?? 0, [], [])
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
