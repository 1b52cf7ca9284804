import type { Page, PageChange, PagePart } from '../model/page.ts'

/** A page with what the view looks up, so that no list is searched while it is used. */
export interface PageIndex {
  page: Page
  /** Position of the change of a cell, by `getCellKey`. */
  changeByCell: Map<number, number>
  /** Positions of the changes that each write makes. */
  changesByWrite: number[][]
  /** Names of the domains, in lower case. */
  names: string[]
  domainByName: Map<string, number>
  itemByName: Map<string, number>
}

/** A change with its part, as the view shows it. */
export interface FullChange extends PageChange {
  what: PagePart
}

/** Indexes a page; changes of unknown domains or parts are left out of the matrix. */
export function indexPage(page: Page): PageIndex {
  const index: PageIndex = {
    page,
    changeByCell: new Map(),
    changesByWrite: page.writes.map(() => []),
    names: page.domains.map((name) => name.toLowerCase()),
    domainByName: new Map(page.domains.map((name, domain) => [name, domain])),
    itemByName: new Map(page.items.map((name, item) => [name, item])),
  }
  page.changes.forEach((change, position) => {
    const item = page.parts[change.part]?.item
    if (item !== undefined) index.changeByCell.set(getCellKey(index, change.domain, item), position)
    for (const write of change.writes) index.changesByWrite[write]?.push(position)
  })
  return index
}

/** Returns the number that identifies a cell of the matrix. */
export function getCellKey(index: PageIndex, domain: number, item: number): number {
  return domain * index.page.items.length + item
}

/** Finds the position of the change of a cell; null for a cell without one. */
export function findChange(index: PageIndex, domain: number, item: number): number | null {
  return index.changeByCell.get(getCellKey(index, domain, item)) ?? null
}

/** Returns a change with its part; null if the page has none at the position. */
export function getChange(index: PageIndex, position: number): FullChange | null {
  const change = index.page.changes[position]
  const what = change === undefined ? undefined : index.page.parts[change.part]
  return change === undefined || what === undefined ? null : { ...change, what }
}
