import { findChange, getChange, type PageIndex } from './index-page.ts'
import type { View } from './filter.ts'

/** Builds a test of whether a cell is in the rectangle of one of some writes. */
export function createLitTest(
  { page }: PageIndex,
  writes: readonly number[],
): (domain: number, item: number) => boolean {
  const rectangles = writes.flatMap((position) => {
    const write = page.writes[position]
    if (write === undefined) return []
    return { domains: new Set(write.domains), items: new Set(write.items.map(({ item }) => item)) }
  })
  return (domain, item) =>
    rectangles.some(({ domains, items }) => items.has(item) && domains.has(domain))
}

/** Lists the writes that a view lights up: those of its cell, but only that it filters by. */
export function listLitWrites(index: PageIndex, view: View): number[] {
  const chosen = index.page.writes.findIndex(({ id }) => id === view.write)
  const selected = findSelected(index, view)
  const writes = selected === null ? [] : (getChange(index, selected)?.writes ?? [])
  return chosen < 0 || writes.includes(chosen) ? writes : [chosen]
}

/** Finds the position of the change of the selected cell; null for none. */
export function findSelected(index: PageIndex, { cell }: View): number | null {
  if (cell === null) return null
  const domain = index.domainByName.get(cell.domain)
  const item = index.itemByName.get(cell.item)
  return domain === undefined || item === undefined ? null : findChange(index, domain, item)
}
