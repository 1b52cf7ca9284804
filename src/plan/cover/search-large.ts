import type { Rectangle } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'
import { LargeMoves } from './large-moves.ts'
import type { PlacedRectangle, Placement } from './placement.ts'

/** How long a large cover is searched. */
export interface LargeEffort {
  /** Moves for each rectangle of the cover that the search starts from, and altogether. */
  stepsPerRectangle: number
  maxSteps: number
  /** Steps without a full cover after which the search begins again from another one. */
  patience: number
}

/** Is called now and then with the steps made and those there may be at most. */
export type Progress = (made: number, all: number) => void

/** Rectangles from which one is drawn to do without, after a failure. */
const maxDrawn = 50
/** Steps between two reports of progress. */
const stepsPerReport = 1_000

/**
 * Takes one rectangle after another away and mends the cover all over, for as long as the effort
 * allows. Where that fails the rectangle comes back elsewhere, which may give another cover of as
 * many; where that fails, too, the search goes back to the last cover.
 *
 * @param target no cover can have fewer, so with so many the search is over
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
  let best: PlacedRectangle[] = [...placement.rectangles]
  let lastCover = 0
  let cameBack = false
  for (let step = 0; step < steps;) {
    if (placement.uncovered.size === 0) {
      best = [...placement.rectangles]
      if (placement.live.size <= Math.max(1, target)) break
      takeAway(placement, cameBack ? maxDrawn : 1, random)
      lastCover = step
      cameBack = false
    } else if (step - lastCover <= patience) {
      moves.advance()
      if (++step % stepsPerReport === 0) progress(step, steps)
    } else {
      placement.resetWeights()
      if (cameBack) {
        restore(placement, best)
        takeAway(placement, maxDrawn, random)
      } else bringBack(placement, random)
      lastCover = step
      cameBack = !cameBack
    }
  }
  progress(steps, steps)
  return best.flatMap(({ rows, columns }) => (rows.length > 0 ? [{ rows, columns }] : []))
}

/** Takes away one of so many rectangles that cover least by themselves. */
function takeAway(placement: Placement, drawn: number, random: () => number): void {
  const useful = [...placement.live]
    .map((id) => ({ id, loss: sum(placement.rectangles[id]?.columnLoss ?? []) }))
    .toSorted((a, b) => a.loss - b.loss || a.id - b.id)
  const place = drawn === 1 ? 0 : Math.floor(random() * Math.min(drawn, useful.length))
  placement.place(useful[place]?.id ?? 0, [], [])
}

/** Puts a rectangle that was taken away on one uncovered cell. */
function bringBack(placement: Placement, random: () => number): void {
  const { flat, uncovered: open, rectangles } = placement
  const cell = open.at(Math.floor(random() * open.size))
  const column = flat.coveredBy[cell]?.[0] ?? 0
  const id = rectangles.findIndex(({ rows }) => rows.length === 0)
  placement.place(id, [flat.rowOfCell[cell] ?? 0], [column])
}

function restore(placement: Placement, cover: PlacedRectangle[]): void {
  for (const [id, { rows, columns }] of cover.entries()) {
    if (placement.rectangles[id]?.rows !== rows) placement.place(id, rows, columns)
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
