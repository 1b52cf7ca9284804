import type { Column } from './cover-problem.ts'
import type { FlatProblem } from './flat-problem.ts'

/** Picks columns that fit in one rectangle: of each item the alternative with most worth. */
export function pickAlternatives(
  { hasAlternatives, alternativeByColumn, itemByColumn }: FlatProblem,
  columns: Column[],
  computeWorth: (column: Column) => number,
): Column[] {
  if (!hasAlternatives) return columns
  const worthByAlternative = new Map<number, number>()
  for (const column of columns) {
    const alternative = alternativeByColumn[column] ?? 0
    worthByAlternative.set(
      alternative,
      (worthByAlternative.get(alternative) ?? 0) + computeWorth(column),
    )
  }
  const bestByItem = new Map<number, number>()
  for (const column of columns) {
    const [item, alternative] = [itemByColumn[column] ?? 0, alternativeByColumn[column] ?? 0]
    const known = bestByItem.get(item)
    if (
      known === undefined ||
      (worthByAlternative.get(alternative) ?? 0) > (worthByAlternative.get(known) ?? 0)
    ) {
      bestByItem.set(item, alternative)
    }
  }
  return columns.filter(
    (column) => bestByItem.get(itemByColumn[column] ?? 0) === alternativeByColumn[column],
  )
}
