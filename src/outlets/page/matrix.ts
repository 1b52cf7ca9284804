import { symbols } from '../../core/model/change.ts'
import { formatNoun } from '../../core/model/page/page-words.ts'
import { createName, focusOnly, h, toggleLit } from './dom.ts'
import { createLitTest, getCellKey, getChange, type FullChange } from './index-page.ts'
import { moveCell, type Position } from './moves.ts'
import type { Store } from './store.ts'
import { VirtualRows } from './virtual-rows.ts'

/** Height of a row, which the style sheet knows too. */
const rowHeight = 28
/** Least widths of the names and of a column with words, which the style sheet knows too. */
const [nameWidth, wideWidth] = [200, 92]
/** Last characters of a domain that are always visible: names of one brand differ there, too. */
const keptCharacters = 10

/** The matrix of domains and items: a grid with one tab stop and arrow keys. */
export class Matrix {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly head = h('div', { role: 'row', class: 'row head', 'aria-rowindex': 1 })
  private readonly body = h('div', { role: 'rowgroup', class: 'rows' })
  private readonly grid = h('div', { role: 'grid', class: 'grid', 'aria-label': 'Changes' })
  private readonly port = h('div', { class: 'port' })
  private readonly none = h('p', { class: 'none' }, 'No change passes the filters.')
  private readonly rows: VirtualRows
  private domains: number[] = []
  private items: number[] = []
  private matched = new Set<number>()
  private active = { row: 0, column: 0 }

  constructor(store: Store) {
    this.store = store
    this.grid.append(h('div', { role: 'rowgroup', class: 'heads' }, this.head), this.body)
    this.port.append(this.grid)
    this.element = h('section', { class: 'panel matrix', id: 'matrix', 'aria-labelledby': 'mh' })
    this.element.append(h('h2', { id: 'mh' }, 'Domains and items'), legend(), this.port, this.none)
    this.rows = new VirtualRows(
      this.port,
      this.body,
      { row: rowHeight, header: () => this.head.offsetHeight },
      (row) => this.createRow(row),
    )
    new ResizeObserver(() => this.fit()).observe(this.port)
    this.grid.addEventListener('keydown', (event) => this.onKey(event))
    this.grid.addEventListener('click', (event) => this.onClick(event))
    this.grid.addEventListener('focusin', (event) => this.onPoint(event))
    this.grid.addEventListener('mouseover', (event) => this.onPoint(event))
    this.grid.addEventListener('focusout', () => store.point(null))
    this.grid.addEventListener('mouseleave', () => store.point(null))
  }

  /** Draws what passes the filters; the focus stays in the grid. */
  draw(): void {
    const { index, shown: selection } = this.store
    const { matches, selected } = selection
    this.element.hidden = index.page.applies !== undefined && matches.length < 2
    const hadFocus = this.grid.contains(document.activeElement)
    const { domain, item } = this.getCell(this.active)
    const [domains, items] = [new Set<number>(), new Set<number>()]
    for (const position of matches) {
      const change = getChange(index, position)
      if (change === null) continue
      domains.add(change.domain)
      items.add(change.what.item)
    }
    this.matched = new Set(matches)
    this.domains = [...domains].toSorted((a, b) => a - b)
    this.items = [...items].toSorted((a, b) => a - b)
    const shown = getChange(index, selected)
    this.active = {
      row: Math.max(0, this.domains.indexOf(shown?.domain ?? domain ?? -1)),
      column: Math.max(0, this.items.indexOf(shown?.what.item ?? item ?? -1)),
    }
    this.drawHead()
    this.grid.hidden = this.domains.length === 0
    this.none.hidden = this.domains.length > 0
    this.rows.reset(this.domains.length, this.active.row)
    if (shown !== null || this.active.row > 0) this.rows.show(this.active.row)
    // The details of a chosen cell may have been scrolled into view.
    if (hadFocus) this.focus(false)
  }

  /** Marks the cells of the lit writes. */
  light(): void {
    const isLit = createLitTest(this.store.index.page, this.store.lit)
    this.reveal()
    for (const [row, element] of this.rows.list()) {
      const domain = this.domains[row] ?? -1
      for (const cell of element.querySelectorAll('[role=gridcell]'))
        toggleLit(cell, isLit(domain, this.items[getColumn(cell)] ?? -1))
    }
  }

  /** Scrolls to the lit rows if the reader points elsewhere, and none of them is visible. */
  private reveal(): void {
    if (this.store.lit.length === 0 || this.grid.matches(':hover, :focus-within')) return
    const { writes } = this.store.index.page
    const lit = new Set(this.store.lit.flatMap((write) => writes[write]?.domains ?? []))
    const rows = this.domains.flatMap((domain, row) => (lit.has(domain) ? [row] : []))
    const [first] = rows
    if (first !== undefined && !rows.some((row) => this.rows.isVisible(row)))
      this.rows.scrollTo(first)
  }

  private drawHead(): void {
    const { page } = this.store.index
    this.grid.setAttribute('aria-rowcount', String(this.domains.length + 1))
    this.grid.setAttribute('aria-colcount', String(this.items.length + 1))
    this.grid.style.setProperty('--columns', String(this.items.length))
    this.fit()
    const attributes = { role: 'columnheader', class: 'corner', 'aria-colindex': 1 }
    this.head.replaceChildren(
      h('div', attributes, formatNoun(this.domains.length, 'domain')),
      ...this.items.map((item, i) => {
        const name = page.items[item] ?? ''
        const header = { role: 'columnheader', 'aria-colindex': i + 2, title: name }
        // A name breaks after its underscores.
        const parts = name.split(/(?<=_)/).flatMap((part) => [part, h('wbr')])
        return h('div', header, h('span', {}, ...parts))
      }),
    )
  }

  /** Leaves the words out where there is no place for them. */
  private fit(): void {
    const width = nameWidth + this.items.length * wideWidth
    this.element.dataset['columns'] = width > this.port.clientWidth ? 'narrow' : 'wide'
  }

  private createRow(row: number): HTMLElement {
    const { index, lit, shown } = this.store
    const domain = this.domains[row] ?? -1
    const name = index.page.domains[domain] ?? ''
    const isLit = createLitTest(index.page, lit)
    const cells = this.items.map((item, column) => {
      const position = this.findPosition(domain, item)
      const change = getChange(index, position)
      const itemName = index.page.items[item] ?? ''
      const isActive = row === this.active.row && column === this.active.column
      const what = change === null ? 'no change' : change.what.action
      const destructive = change?.what.isDestructive === true
      return h(
        'div',
        {
          role: 'gridcell',
          class: 'cell',
          tabindex: isActive ? 0 : -1,
          'aria-colindex': column + 2,
          'aria-label': `${itemName}: ${what}${destructive ? ', destructive' : ''}`,
          'aria-selected': position !== null && position === shown.selected ? 'true' : 'false',
          'data-domain': name,
          'data-item': itemName,
          'data-action': change === null ? null : change.what.action,
          'data-destructive': destructive,
          'data-lit': isLit(domain, item),
          'data-dim': position !== null && !this.matched.has(position),
        },
        ...(change === null ? [] : [h('b', {}, symbols[change.what.action]), h('i', {}, what)]),
      )
    })
    const link = createName(
      'domains',
      name,
      h('span', { class: 'start' }, name.slice(0, -keptCharacters)),
      h('span', {}, name.slice(-keptCharacters)),
    )
    // The grid has one tab stop; the details of a cell have a link for the keyboard.
    link.tabIndex = -1
    const header = h('div', { role: 'rowheader', 'aria-colindex': 1, title: name }, link)
    return h('div', { role: 'row', class: 'row', 'aria-rowindex': row + 2 }, header, ...cells)
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' || event.key === ' ') this.select(this.active)
    else if (event.key === 'Escape') {
      this.store.change({ cell: '' })
    } else {
      const page = Math.floor(this.port.clientHeight / rowHeight) - 2
      const size = { rows: this.domains.length, columns: this.items.length }
      const next = moveCell(this.active, event.key, event.ctrlKey || event.metaKey, size, page)
      if (next === null) return
      this.active = next
      this.focus()
    }
    event.preventDefault()
  }

  private onClick(event: Event): void {
    const cell = this.findCell(event)
    if (cell === null) return
    this.active = cell
    this.focus()
    this.select(cell)
  }

  private onPoint(event: Event): void {
    const cell = this.findCell(event)
    const { writes = [] } = (cell === null ? null : this.findChange(cell)) ?? {}
    this.store.point(writes.length === 0 ? null : writes)
  }

  private select(cell: Position): void {
    const { page } = this.store.index
    const change = this.findChange(cell)
    const name = `${page.domains[change?.domain ?? -1]}/${page.items[change?.what.item ?? -1]}`
    this.store.change({ cell: change === null ? '' : name })
  }

  private findChange(cell: Position): FullChange | null {
    const { domain, item } = this.getCell(cell)
    if (domain === undefined || item === undefined) return null
    return getChange(this.store.index, this.findPosition(domain, item))
  }

  private findPosition(domain: number, item: number): number | null {
    const { index, shown } = this.store
    return shown.cells.get(getCellKey(index.page, domain, item)) ?? null
  }

  /** Moves the focus to the active cell. */
  focus(scrolls = true): void {
    const cell = this.rows.show(this.active.row)?.querySelectorAll('[role=gridcell]')
    const next = cell?.[this.active.column]
    focusOnly(this.body, next)
    if (scrolls) next?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  private getCell({ row, column }: Position) {
    return { domain: this.domains[row], item: this.items[column] }
  }

  private findCell({ target }: Event): Position | null {
    const cell = target instanceof Element ? target.closest('[role=gridcell]') : null
    const row = cell?.parentElement?.getAttribute('aria-rowindex') ?? null
    return cell === null || row === null ? null : { row: Number(row) - 2, column: getColumn(cell) }
  }
}

function getColumn(cell: Element): number {
  return Number(cell.getAttribute('aria-colindex')) - 2
}

function legend(): HTMLElement {
  const entries = Object.entries(symbols).map(([action, symbol]) =>
    h('li', { 'data-action': action }, h('b', { 'aria-hidden': 'true' }, symbol), ` ${action}`),
  )
  return h('ul', { class: 'legend', 'aria-label': 'Actions' }, ...entries)
}
