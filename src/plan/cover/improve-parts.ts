import { countingBound } from './counting-bound.ts'
import type { CoverProblem, Rectangle } from './cover-problem.ts'
import { partOf } from './part-of.ts'
import { searchFewer, type SearchEffort } from './search-fewer.ts'
import { coverage } from './without-redundancy.ts'

/** So many rectangles of a large cover are done again at once. */
const size = 24

/** Takes rectangles that have much in common out of a cover and covers anew, with fewer, what only they covered; again and again, all over it. */
export function improveParts(
  problem: CoverProblem,
  start: Rectangle[],
  target: number,
  parts: number,
  effort: SearchEffort,
  random: () => number,
): Rectangle[] {
  let cover = start
  for (let turn = 0; turn < parts && cover.length > target; turn++) {
    const taken = new Set(alike(cover, Math.floor(random() * cover.length)))
    const kept = cover.filter((_, i) => !taken.has(i))
    const out = cover.filter((_, i) => taken.has(i))
    const covered = coverage(problem, kept)
    const rows = [...new Set(out.flatMap((rectangle) => rectangle.rows))].toSorted((a, b) => a - b)
    const part = partOf(problem, rows, (cell) => covered[cell] === 0)
    const before = out.map((rectangle) => part.inner(rectangle))
    const after = searchFewer(part.problem, before, countingBound(part.problem), effort, random)
    if (after.length < before.length) cover = [...kept, ...after.map((rectangle) => part.outer(rectangle))]
  }
  return cover
}

/** The places of the rectangles that share most columns with one of them, itself among them. */
function alike(cover: Rectangle[], seed: number): number[] {
  const columns = new Set(cover[seed]?.columns)
  const shared = cover.map((other) => other.columns.filter((column) => columns.has(column)).length)
  return shared
    .map((_, i) => i)
    .toSorted((a, b) => (shared[b] ?? 0) - (shared[a] ?? 0) || a - b)
    .slice(0, size)
}
