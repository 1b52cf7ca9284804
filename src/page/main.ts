/** Draws the page of a plan from the data in it; what is readable without scripts is there. */
import { isSmall } from './cards.ts'
import { Details } from './details.ts'
import { h } from './dom.ts'
import { Filters } from './filters.ts'
import { indexPage } from './index-page.ts'
import { Matrix } from './matrix.ts'
import { Store } from './store.ts'
import { Timeline } from './timeline.ts'
import { unpackPage, type PackedPage } from './unpack-page.ts'
import { Writes } from './writes.ts'

const root = document.querySelector('#view')
const data = document.querySelector('#data')?.textContent ?? 'null'
const page = unpackPage(JSON.parse(data) as PackedPage)
if (root !== null && page.changes.length > 0) draw(root)
document.documentElement.dataset['ready'] = 'true'
performance.mark('ready')

function draw(parent: Element): void {
  const store = new Store(indexPage(page))
  const readsFirst = isSmall(store)
  const [filters, timeline] = [new Filters(store), new Timeline(store)]
  const [matrix, writes] = [new Matrix(store), new Writes(store)]
  const details = new Details(store, () => matrix.focus())
  const aside = h('div', { class: 'column' }, matrix.element, writes.element)
  const columns = h('div', { class: 'columns', 'data-size': readsFirst ? 'small' : 'large' })
  columns.append(...(readsFirst ? [details.element, aside] : [aside, details.element]))
  parent.append(timeline.element, filters.element, columns)
  for (const part of [timeline, filters, details, matrix, writes]) store.add(part)
  skipTo(readsFirst ? details.element : matrix.element)
}

/** Lets the skip link move the focus and keep the hash, which has the filters. */
function skipTo(target: HTMLElement): void {
  target.tabIndex = -1
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault()
    target.focus()
    target.scrollIntoView()
  })
}
