import { getChange, type FullChange, type PageIndex } from './index-page.ts'

/** Changes that look the same. */
export interface ChangeGroup {
  part: number
  changes: FullChange[]
}

/**
 * Groups changes by what changes. Destructive groups are first, then those of most domains; equal
 * ones stay in the order of the page.
 */
export function groupChanges(index: PageIndex, positions: readonly number[]): ChangeGroup[] {
  const groups = new Map<number, ChangeGroup>()
  for (const position of positions) {
    const change = getChange(index, position)
    if (change === null) continue
    const group = groups.get(change.part)
    if (group === undefined) groups.set(change.part, { part: change.part, changes: [change] })
    else group.changes.push(change)
  }
  const isDestructive = ({ changes }: ChangeGroup) => Number(changes[0]?.what.isDestructive)
  return [...groups.values()].toSorted(
    (a, b) => isDestructive(b) - isDestructive(a) || b.changes.length - a.changes.length,
  )
}
