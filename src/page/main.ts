/** Draws the page of a plan from the data in it; what is readable without scripts is there. */
import type { PackedPage } from '../model/packed-page.ts'
import { isSmall } from './cards.ts'
import { Details } from './details.ts'
import { h } from './dom.ts'
import { Filters } from './filters.ts'
import { drawHistory } from './history.ts'
import { indexPage } from './index-page.ts'
import { skipTo } from './skip-to.ts'
import { Matrix } from './matrix.ts'
import { Store } from './store.ts'
import { Timeline } from './timeline.ts'
import { unpackPage } from './unpack-page.ts'
import { Writes } from './writes.ts'

const root = document.querySelector('#view')
const data = document.querySelector('#data')?.textContent ?? 'null'
const page = unpackPage(JSON.parse(data) as PackedPage)
if (root !== null && page.kind === 'history') drawHistory(root, page)
else if (root !== null && page.changes.length > 0) draw(root)
document.documentElement.dataset['ready'] = 'true'
performance.mark('ready')

function draw(parent: Element): void {
  const index = indexPage(page)
  const store = new Store(() => index)
  const readsFirst = isSmall(store)
  const [filters, timeline] = [new Filters(store), new Timeline(store)]
  const [matrix, writes] = [new Matrix(store), new Writes(store)]
  const details = new Details(store, () => matrix.focus())
  const columns = h('div', { class: 'columns', 'data-size': readsFirst ? 'small' : 'large' })
  // The order in which they are read, also where there is one column only.
  const [first, second] = readsFirst ? [details, matrix] : [matrix, details]
  columns.append(first.element, second.element, writes.element)
  parent.replaceChildren(timeline.element, filters.element, columns)
  for (const part of [timeline, filters, details, matrix, writes]) store.add(part)
  skipTo(readsFirst ? details.element : matrix.element)
}
