import { symbols, type Action, type Change } from '../../model/change.ts'
import { groupBy } from '../../model/group-by.ts'
import type { ItemKey } from '../../model/item.ts'

/** Number of changed domains by item and action. */
export interface ChangeTable {
  /** Actions that occur. */
  actions: Action[]
  /** Items with most changes first; `counts` has a number for each action. */
  rows: { item: ItemKey; counts: number[] }[]
}

/** Titles of the columns. */
export const actionTitles: Record<Action, string> = {
  set: `${symbols.set} set`,
  change: `${symbols.change} change`,
  unset: `${symbols.unset} unset`,
  release: `${symbols.release} release`,
}
const allActions: Action[] = ['set', 'change', 'unset', 'release']

/** Counts the changed domains by item and action; null for one action on one item. */
export function tabulateChanges(changes: Change[]): ChangeTable | null {
  const actions = allActions.filter((action) => changes.some((change) => change.action === action))
  const groups = [...groupBy(changes, ({ item }) => item)].toSorted(
    ([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1),
  )
  if (groups.length < 2 && actions.length < 2) return null
  const rows = groups.map(([item, same]) => ({
    item,
    counts: actions.map((action) => same.filter((change) => change.action === action).length),
  }))
  return { actions, rows }
}
