/** Draws the page of a plan from the data in it; what is readable without scripts is there. */
import type { Page } from '../model/page.ts'
import { Details } from './details.ts'
import { h } from './dom.ts'
import { Filters } from './filters.ts'
import { indexPage } from './index-page.ts'
import { Matrix } from './matrix.ts'
import { Store } from './store.ts'
import { Timeline } from './timeline.ts'
import { Writes } from './writes.ts'

/** Up to this number of changes, all are a list to read, and the matrix is beside it. */
const maxReadChanges = 30

const root = document.querySelector('#view')
const data = document.querySelector('#data')?.textContent ?? 'null'
const page = JSON.parse(data) as Page
if (root !== null && page.changes.length > 0) draw(root)
document.documentElement.dataset['ready'] = 'true'
performance.mark('ready')

function draw(parent: Element): void {
  const store = new Store(indexPage(page))
  const isSmall = page.changes.length <= maxReadChanges
  const [filters, timeline] = [new Filters(store), new Timeline(store)]
  const [matrix, details, writes] = [new Matrix(store), new Details(store), new Writes(store)]
  const aside = h('div', { class: 'column' }, matrix.element, writes.element)
  const columns = h('div', { class: 'columns', 'data-size': isSmall ? 'small' : 'large' })
  columns.append(...(isSmall ? [details.element, aside] : [aside, details.element]))
  parent.append(timeline.element, filters.element, columns)
  for (const part of [timeline, filters, details, matrix, writes]) store.add(part)
  skipTo(isSmall ? details.element : matrix.element)
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
