import type { Rectangle } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'
import { LargeMoves } from './large-moves.ts'
import type { Placed, Placement } from './placement.ts'

/** How long a large cover is searched. */
export interface LargeEffort {
  /** Moves for each rectangle of the cover that the search starts from, and altogether. */
  stepsPerRectangle: number
  maxSteps: number
}

/** Is called now and then with the steps made and those there may be at most. */
export type Progress = (made: number, all: number) => void

/** After so many steps without a full cover the search goes back to the last one. */
const patience = 5_000
/** Rectangles from which one is drawn to do without, after such a return. */
const drawnFrom = 50
/** Steps between two reports of progress. */
const reported = 1_000

/**
 * Takes one rectangle after another away and mends the cover all over, for as long as the effort
 * allows. Meant for covers of hundreds of rectangles and more.
 *
 * @param target no cover can have fewer, so with so many the search is over
 */
export function searchLarge(
  flat: FlatProblem,
  start: Rectangle[],
  target: number,
  { stepsPerRectangle, maxSteps }: LargeEffort,
  random: () => number,
  progress: Progress = () => undefined,
): Rectangle[] {
  const moves = new LargeMoves(flat, start, random)
  const { placement } = moves
  const steps = Math.min(maxSteps, stepsPerRectangle * start.length)
  let best: Placed[] = [...placement.rectangles]
  let lastCover = 0
  for (let step = 0; step < steps;) {
    if (placement.open.size === 0) {
      best = [...placement.rectangles]
      if (placement.live.size <= Math.max(1, target)) break
      lastCover = step
      takeAway(placement, 1, random)
    } else if (step - lastCover > patience) {
      for (const [id, { rows, columns }] of best.entries()) {
        if (placement.rectangles[id]?.rows !== rows) placement.place(id, rows, columns)
      }
      placement.weight.fill(1)
      lastCover = step
      takeAway(placement, drawnFrom, random)
    } else {
      moves.advance()
      if (++step % reported === 0) progress(step, steps)
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

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
