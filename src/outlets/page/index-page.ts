import type { Page, PageChange, PagePart } from '../../core/model/page/page.ts'
import type { View } from './view.ts'

/** A page with what the view looks up, so that no list is searched while it is used. */
export interface PageIndex {
  page: Page
  /** Names of the domains, in lower case. */
  names: string[]
  domainByName: Map<string, number>
  itemByName: Map<string, number>
  /** Position of the change of each cell, by `getCellKey`; in a history, that of the last apply. */
  changeByCell: Map<number, number>
}

/** A change with its part, as the view shows it. */
export interface FullChange extends PageChange {
  what: PagePart
}

/** Indexes a page; changes of unknown domains or parts are left out of the matrix. */
export function indexPage(page: Page): PageIndex {
  return {
    page,
    names: page.domains.map((name) => name.toLowerCase()),
    domainByName: new Map(page.domains.map((name, domain) => [name, domain])),
    itemByName: new Map(page.items.map((name, item) => [name, item])),
    changeByCell: indexCells(
      page,
      page.changes.map((_, position) => position),
    ),
  }
}

/** Indexes the first change of each cell among those at some positions. */
export function indexCells(page: Page, positions: number[]): Map<number, number> {
  const cells = new Map<number, number>()
  for (const position of positions) {
    const { domain = 0, part = -1 } = page.changes[position] ?? {}
    const item = page.parts[part]?.item
    if (item === undefined) continue
    const key = getCellKey(page, domain, item)
    if (!cells.has(key)) cells.set(key, position)
  }
  return cells
}

/** Returns the number that identifies a cell of the matrix. */
export function getCellKey({ items }: Page, domain: number, item: number): number {
  return domain * items.length + item
}

/** Returns a change with its part; null if the page has none at the position. */
export function getChange({ page }: PageIndex, position: number | null): FullChange | null {
  const change = page.changes[position ?? -1]
  const what = page.parts[change?.part ?? -1]
  return change === undefined || what === undefined ? null : { ...change, what }
}

/** Finds the cell that a view has selected; null for none. Both names may have a slash. */
export function findCell({ page, domainByName, itemByName }: PageIndex, { cell }: View) {
  for (let slash = cell.indexOf('/'); slash >= 0; slash = cell.indexOf('/', slash + 1)) {
    const domain = domainByName.get(cell.slice(0, slash))
    const item = itemByName.get(cell.slice(slash + 1))
    if (domain !== undefined && item !== undefined) return getCellKey(page, domain, item)
  }
  return null
}

/** Builds a test of whether a cell is in the rectangle of one of some writes. */
export function createLitTest(
  { writes }: Page,
  positions: readonly number[],
): (domain: number, item: number) => boolean {
  const rectangles = positions.flatMap((position) => {
    const write = writes[position]
    if (write === undefined) return []
    return { domains: new Set(write.domains), items: new Set(write.items.map(({ item }) => item)) }
  })
  return (domain, item) =>
    rectangles.some(({ domains, items }) => items.has(item) && domains.has(domain))
}

/**
 * Groups changes by what changes. Destructive groups are first, then those of most domains; equal
 * ones stay in the order of the page.
 */
export function groupChanges(index: PageIndex, positions: readonly number[]): FullChange[][] {
  const groups = new Map<number, FullChange[]>()
  for (const position of positions) {
    const change = getChange(index, position)
    if (change === null) continue
    const group = groups.get(change.part)
    if (group === undefined) groups.set(change.part, [change])
    else group.push(change)
  }
  const isDestructive = (group: FullChange[]) => Number(group[0]?.what.isDestructive)
  return [...groups.values()].toSorted(
    (a, b) => isDestructive(b) - isDestructive(a) || b.length - a.length,
  )
}
