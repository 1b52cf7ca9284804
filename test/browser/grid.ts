import type { Page as Tab } from 'playwright-core'
import type { Page } from '../../src/core/model/page/page.ts'

/** A cell of the matrix, as far as it is rendered. */
export interface Cell {
  domain: string
  item: string
  /** Empty if the item of the domain does not change, or its change does not pass the filters. */
  action: string
  isLit: boolean
}

/** Reads all rendered cells of the matrix. */
export async function readCells(tab: Tab): Promise<Cell[]> {
  return tab.evaluate<Cell[]>(`
    [...document.querySelectorAll('[role=grid] [role=gridcell][data-domain][data-item]')].map(
      ({ dataset }) => ({
        domain: dataset.domain,
        item: dataset.item,
        action: dataset.dim === undefined ? (dataset.action ?? '') : '',
        isLit: dataset.lit !== undefined,
      }),
    )`)
}

/** Reads which cell has the focus, itself or as the active one of the matrix; null if none has. */
export async function readFocus(tab: Tab): Promise<{ domain: string; item: string } | null> {
  return tab.evaluate<{ domain: string; item: string } | null>(`{
    const { activeElement } = document
    const id = activeElement?.getAttribute('aria-activedescendant')
    const cell = id ? document.getElementById(id) : activeElement
    const { domain, item } = cell?.dataset ?? {}
    domain === undefined ? null : { domain, item }
  }`)
}

/** Lists the changes of a page with their names, in the order of the page. */
export function listChanges(page: Page) {
  return page.changes.map(({ domain, part, writes }) => {
    const { item = -1, action = 'set' } = page.parts[part] ?? {}
    return {
      domain: page.domains[domain] ?? '',
      item: page.items[item] ?? '',
      action,
      writes,
      waves: writes.map((write) => page.writes[write]?.wave),
    }
  })
}

/** Names a cell, to compare sets of them. */
export function nameCell({ domain, item }: { domain: string; item: string }): string {
  return `${domain} ${item}`
}
