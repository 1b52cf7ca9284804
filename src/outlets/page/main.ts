/** Draws a page from the data in it; what is readable without scripts is there. */
import { type PackedPage, unpackPage } from '../../core/model/page/packed-page.ts'
import type { Page } from '../../core/model/page/page.ts'
import { ApplyHead } from './apply-head.ts'
import { isSmall } from './cards.ts'
import { openOnPaper, showPeriods } from './curves.ts'
import { Details } from './details.ts'
import { h } from './dom.ts'
import { Entries } from './entries.ts'
import type { Fleet } from '../../core/model/page/fleet.ts'
import { FleetList } from './fleet.ts'
import { Filters } from './filters.ts'
import { indexPage } from './index-page.ts'
import { watchServer } from './live.ts'
import { Matrix } from './matrix.ts'
import { Store } from './store.ts'

/** Columns of a matrix that a screen of 1280 pixels shows beside something else. */
const maxColumns = 15

const root = document.querySelector('#view')
const data = document.querySelector('#data')?.textContent ?? null
if (root !== null && data !== null) draw(root, unpackPage(JSON.parse(data) as PackedPage))
const fleet = document.querySelector('#fleet')
const domains = document.querySelector('#domains')?.textContent ?? null
if (fleet !== null && domains !== null) new FleetList(fleet, JSON.parse(domains) as Fleet)
keepHash()
showPeriods()
openOnPaper()
watchServer()
document.documentElement.dataset['ready'] = 'true'
performance.mark('ready')

/** Draws the changes of a plan, or the applies of a history and what the chosen one changed. */
function draw(parent: Element, page: Page): void {
  const isHistory = page.applies !== undefined
  if (isHistory ? page.applies?.length === 0 : page.changes.length === 0) return
  const store = new Store(indexPage(page))
  const [filters, entries] = [new Filters(store), new Entries(store)]
  const [head, matrix] = [new ApplyHead(store), new Matrix(store)]
  const details = new Details(store, () => matrix.focus())
  const size = isHistory ? 'history' : isSmall(store) ? 'small' : 'large'
  // The order in which they are read, also where there is one column only.
  const order = {
    history: [entries, head, details, matrix],
    small: [details, matrix, entries],
    large: [matrix, details, entries],
  }[size]
  const isWide = page.items.length > maxColumns
  const columns = h('div', { class: 'columns', 'data-size': size, 'data-wide': isWide })
  columns.append(...order.map(({ element }) => element))
  parent.replaceChildren(filters.element, columns)
  for (const part of [filters, ...order, createWaveLinks(store)]) store.add(part)
}

/** Lets the links of the waves filter by them, and keep the other filters. */
function createWaveLinks(store: Store): { draw(): void } {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href^="#wave="]')]
  const getWave = (link: HTMLAnchorElement) => link.hash.slice('#wave='.length)
  for (const link of links)
    link.addEventListener('click', (event) => {
      event.preventDefault()
      const wave = getWave(link)
      store.change({ wave: wave === store.view.wave ? '' : wave, write: '' })
    })
  return {
    draw: () => {
      for (const link of links)
        link.setAttribute('aria-current', String(getWave(link) === store.view.wave))
    },
  }
}

/** Lets the skip link move the focus and keep the hash, which has the filters. */
function keepHash(): void {
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault()
    const target =
      document.querySelector<HTMLElement>('.columns, .fleet') ?? document.querySelector('main')
    if (target !== null) target.tabIndex = -1
    target?.focus()
    target?.scrollIntoView()
  })
}
