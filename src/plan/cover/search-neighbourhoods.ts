import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { flatten } from './flat-problem.ts'
import { growNeighbourhood } from './grow-neighbourhood.ts'
import { cutSubproblem } from './subproblem.ts'
import { searchLarge, type Progress } from './search-large.ts'
import { countCoverage } from './remove-redundancy.ts'

/** How much work the search in parts of a cover may be. */
export interface NeighbourhoodEffort {
  /** Rectangles of a part. */
  size: number
  stepsPerRectangle: number
  /** How often each rectangle is in a part, on average, and the most parts. */
  rounds: number
  maxParts: number
}

/**
 * Searches parts of a cover, neighbours together, for fewer rectangles. In a part that is small the
 * weights of cells that stay open tell soon; a whole fleet is too large for them.
 */
export function searchNeighbourhoods(
  problem: CoverProblem,
  start: Rectangle[],
  target: number,
  { size, stepsPerRectangle, rounds, maxParts }: NeighbourhoodEffort,
  random: () => number,
  progress: Progress = () => undefined,
): Rectangle[] {
  const parts = Math.min(maxParts, Math.ceil((rounds * start.length) / size))
  const effort = { stepsPerRectangle, maxSteps: stepsPerRectangle * size, patience: Infinity }
  const visits = new Map(start.map((rectangle) => [rectangle, 0]))
  let cover = start
  for (let turn = 0; turn < parts && cover.length > target; turn++) {
    const fewest = cover.reduce((least, each) => Math.min(least, visits.get(each) ?? 0), Infinity)
    const seeds = [...cover.keys()].filter(
      (i) => visits.get(cover[i] ?? { rows: [], columns: [] }) === fewest,
    )
    const region = new Set(
      growNeighbourhood(cover, seeds[Math.floor(random() * seeds.length)] ?? 0, size),
    )
    const kept = cover.filter((_, i) => !region.has(i))
    const out = cover.filter((_, i) => region.has(i))
    const covered = countCoverage(problem, kept)
    const rows = [...new Set(out.flatMap((rectangle) => rectangle.rows))].toSorted((a, b) => a - b)
    const part = cutSubproblem(problem, rows, (cell) => covered[cell] === 0)
    const before = out.map((rectangle) => part.toInner(rectangle))
    const found = searchLarge(flatten(part.problem), before, 1, effort, random)
    const after = found.map((rectangle) => part.toOuter(rectangle))
    const turns = (visits.get(cover[seeds[0] ?? 0] ?? { rows: [], columns: [] }) ?? 0) + 1
    for (const rectangle of after) visits.set(rectangle, turns)
    cover = [...kept, ...after]
    progress(turn + 1, parts)
  }
  return cover
}
