import {
  buildAddress,
  fleetStates,
  formatCell,
  listColumns,
  stateLooks,
  type Fleet,
  type FleetColumn,
  type FleetRow,
} from '../../core/model/page/fleet.ts'
import { formatCount, formatNoun } from '../../core/model/page/page-words.ts'
import { createLabel, h } from './dom.ts'
import { createInput, createSelect } from './filters.ts'
import { moveCell } from './moves.ts'
import { VirtualRows } from './virtual-rows.ts'

/** Height of a row, which the style sheet knows too. */
const rowHeight = 48
/** Rows that PageUp and PageDown move by. */
const pageRows = 10

/** The list of the domains of a fleet, with its search, which is in the hash of the address. */
export class FleetList {
  private readonly fleet: Fleet
  private readonly columns: FleetColumn[]
  private readonly domain = createInput('domain', { type: 'search', placeholder: 'Part of a name' })
  private readonly state: HTMLSelectElement
  private readonly sort: HTMLSelectElement
  private readonly count = h('p', { 'data-count': true, role: 'status' })
  private readonly body = h('div', { class: 'rows', role: 'rowgroup' })
  private readonly table = h('div', { role: 'table', 'aria-label': 'Domains' })
  private readonly none = h('p', { class: 'none' }, 'No domain passes the filters.')
  private readonly rows: VirtualRows
  private shown: FleetRow[] = []
  private active = 0

  /** Draws the list in place of the table that is read without scripts. */
  constructor(parent: Element, fleet: Fleet) {
    this.fleet = fleet
    this.columns = listColumns(fleet.rows)
    const present = fleetStates.filter((state) => fleet.rows.some((row) => row.state === state))
    this.state = createSelect('state', present, (state) => stateLooks[state].words)
    const titles = this.columns.map(([, title]) => title)
    this.sort = createSelect('sort', titles, undefined, 'Domain')
    const head = h(
      'div',
      { role: 'row', class: 'listed head', 'aria-rowindex': 1 },
      ...['Domain', 'State', ...titles].map((title) => h('span', { role: 'columnheader' }, title)),
    )
    const port = h('div', { class: 'port' }, this.table)
    this.table.append(h('div', { role: 'rowgroup', class: 'heads' }, head), this.body)
    const sizes = { row: rowHeight, header: () => head.offsetHeight }
    parent.replaceChildren(this.createForm(), h('div', { class: 'panel fleet' }, port, this.none))
    this.rows = new VirtualRows(port, this.body, sizes, (row) => this.createRow(row))
    this.body.addEventListener('keydown', (event) => this.onKey(event))
    addEventListener('hashchange', () => this.draw())
    this.draw()
  }

  private createForm(): HTMLElement {
    const fields = [
      { label: 'Domain', box: this.domain },
      { label: 'State', box: this.state },
      { label: 'Sort by', box: this.sort },
    ].map(createLabel)
    const attributes = { class: 'filters', role: 'search', 'aria-label': 'Filter the domains' }
    const form = h('form', attributes, ...fields, this.count)
    form.addEventListener('input', () => this.onInput())
    form.addEventListener('submit', (event) => event.preventDefault())
    return form
  }

  private onInput(): void {
    const values = new URLSearchParams()
    for (const { name, value } of [this.domain, this.state, this.sort])
      if (value !== '') values.set(name, value)
    const hash = values.size === 0 ? location.pathname + location.search : `#${values.toString()}`
    history.replaceState(null, '', hash)
    this.draw()
  }

  /** Draws the domains that pass the filters of the address. */
  private draw(): void {
    const values = new URLSearchParams(location.hash.slice(1))
    for (const box of [this.domain, this.state, this.sort]) {
      const value = values.get(box.name) ?? ''
      if (box.value !== value) box.value = value
      // A choice that the list does not have is none.
      if (box.value !== value) box.value = ''
    }
    const [part, state] = [this.domain.value.toLowerCase(), this.state.value]
    this.shown = this.fleet.rows.filter(
      (row) =>
        `${row.domain} ${row.owners ?? ''}`.toLowerCase().includes(part) &&
        (state === '' || row.state === state),
    )
    const [key] = this.columns.find(([, title]) => title === this.sort.value) ?? []
    const { compare } = new Intl.Collator('en', { numeric: true })
    // Most first, but texts by the alphabet.
    const sign = key === 'confirmedAt' || key === 'owners' ? 1 : -1
    if (key !== undefined)
      this.shown.sort((a, b) => sign * compare(String(a[key] ?? ''), String(b[key] ?? '')))
    const all = formatNoun(this.fleet.rows.length, 'domain')
    const isAll = this.shown.length === this.fleet.rows.length
    this.count.textContent = isAll ? all : `${formatCount(this.shown.length)} of ${all}`
    this.table.setAttribute('aria-rowcount', String(this.shown.length + 1))
    this.table.hidden = this.shown.length === 0
    this.none.hidden = this.shown.length > 0
    this.active = 0
    this.rows.reset(this.shown.length, 0)
    this.rows.scrollTo(0)
  }

  private createRow(position: number): HTMLElement {
    const row = this.shown[position]
    if (row === undefined) return h('div')
    const { words, tone } = stateLooks[row.state]
    const href = buildAddress(this.fleet, row)
    const link = h('a', { href, tabindex: position === this.active ? 0 : -1 }, row.domain)
    const cells = this.columns.map((column) => {
      const text = formatCell(row, column)
      const attributes = { role: 'cell', 'data-label': text === '' ? null : column[2] }
      return h('span', attributes, text)
    })
    return h(
      'div',
      { role: 'row', class: 'listed', 'aria-rowindex': position + 2 },
      h('span', { role: 'rowheader' }, link),
      h('span', { role: 'cell' }, h('b', { class: 'tag', 'data-tone': tone }, words)),
      ...cells,
    )
  }

  private onKey(event: KeyboardEvent): void {
    const size = { rows: this.shown.length, columns: 1 }
    const isEdge = event.key === 'Home' || event.key === 'End'
    const from = { row: this.active, column: 0 }
    const next = moveCell(from, event.key, isEdge, size, pageRows)
    if (next === null) return
    event.preventDefault()
    this.body.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
    this.active = next.row
    const link = this.rows.show(this.active)?.querySelector('a')
    if (link == null) return
    link.tabIndex = 0
    link.focus({ preventScroll: true })
  }
}
