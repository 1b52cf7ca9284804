import type { Column } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'

/** Leaves of rival ways of one item the one with most worth: columns of one rectangle. */
export function pickAlternatives(
  { hasAlternatives, alternativeOf, itemOf }: FlatProblem,
  columns: Column[],
  worth: (column: Column) => number,
): Column[] {
  if (!hasAlternatives) return columns
  const worths = new Map<number, number>()
  for (const column of columns) {
    const way = alternativeOf[column] ?? 0
    worths.set(way, (worths.get(way) ?? 0) + worth(column))
  }
  const best = new Map<number, number>()
  for (const column of columns) {
    const [item, way] = [itemOf[column] ?? 0, alternativeOf[column] ?? 0]
    const known = best.get(item)
    if (known === undefined || (worths.get(way) ?? 0) > (worths.get(known) ?? 0)) {
      best.set(item, way)
    }
  }
  return columns.filter((column) => best.get(itemOf[column] ?? 0) === alternativeOf[column])
}
