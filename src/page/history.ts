import type { Page } from '../model/page.ts'
import { isSmall } from './cards.ts'
import { Details } from './details.ts'
import { h } from './dom.ts'
import { ApplyHead } from './apply-head.ts'
import { ApplyList } from './apply-list.ts'
import { HistoryFilters } from './history-filters.ts'
import { indexHistory } from './history-index.ts'
import { HistoryChoice } from './history-store.ts'
import { HistoryStrip } from './history-strip.ts'
import { Matrix } from './matrix.ts'
import { skipTo } from './skip-to.ts'
import { Store } from './store.ts'

/** Draws the page of a history in place of its table: the applies, and what the chosen one did. */
export function drawHistory(parent: Element, page: Page): void {
  if (page.applies === undefined || page.applies.length === 0) return
  const choice = new HistoryChoice(indexHistory(page))
  const store = new Store((view) => choice.choose(view))
  const strip = new HistoryStrip(choice)
  const filters = new HistoryFilters(store, choice)
  const list = new ApplyList(store, choice)
  const head = new ApplyHead(store, choice)
  const matrix = new Matrix(store)
  const details = new Details(store, () => matrix.focus())
  const chosen = h('div', { class: 'column chosen' }, head.element, details.element, matrix.element)
  // Many changes are found in the matrix, few are read.
  const order = {
    draw: () => {
      const { changes } = store.index.page
      chosen.dataset['size'] = isSmall(store) ? 'small' : 'large'
      details.element.hidden = changes.length === 0
      matrix.element.hidden = changes.length < 2
    },
  }
  const columns = h('div', { class: 'columns history' }, list.element, chosen)
  parent.replaceChildren(strip.element, filters.element, columns)
  for (const part of [strip, filters, list, head, details, matrix, order]) store.add(part)
  skipTo(list.element)
}
