import type { PageWrite } from '../model/page.ts'
import { h, toggle } from './dom.ts'
import type { Store } from './store.ts'
import { VirtualRows } from './virtual-rows.ts'
import { clamp } from './window.ts'
import { formatClock, formatCount, formatNoun, formWords } from './words.ts'

/** Height of a row, which the style sheet knows too. */
const rowHeight = 46

/** The list of writes: a button for each, with one tab stop and arrow keys. */
export class Writes {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly heading = h('h2', { id: 'wh' })
  private readonly body = h('ol', { class: 'rows' })
  private readonly rows: VirtualRows
  private shown: number[] = []
  private active = 0

  constructor(store: Store) {
    this.store = store
    const port = h('div', { class: 'port' }, this.body)
    this.element = h('section', { class: 'panel writes', 'aria-labelledby': 'wh' })
    this.element.append(this.heading, port)
    this.rows = new VirtualRows(port, this.body, { row: rowHeight, header: () => 0 }, (row) =>
      this.createRow(row),
    )
    this.body.addEventListener('keydown', (event) => this.onKey(event))
    this.body.addEventListener('click', (event) => this.onClick(event))
    this.body.addEventListener('focusin', (event) => this.onPoint(event))
    this.body.addEventListener('mouseover', (event) => this.onPoint(event))
    this.body.addEventListener('focusout', () => store.point(null))
    this.body.addEventListener('mouseleave', () => store.point(null))
  }

  /** Draws the writes of the changes that pass the filters. */
  draw(): void {
    const { index, matches, view } = this.store
    const hadFocus = this.body.contains(document.activeElement)
    // The chosen write stays among the others, so that one can go from write to write.
    const changes = view.write === null ? matches : this.store.match({ ...view, write: null })
    const found = new Set<number>()
    for (const position of changes)
      for (const write of index.page.changes[position]?.writes ?? []) found.add(write)
    this.shown = [...found].toSorted((a, b) => a - b)
    const chosen = this.shown.findIndex((write) => index.page.writes[write]?.id === view.write)
    this.active = chosen < 0 ? clamp(this.active, 0, Math.max(0, this.shown.length - 1)) : chosen
    const all = index.page.writes.length
    const isAll = this.shown.length === all
    this.heading.textContent = isAll
      ? formatNoun(all, 'write')
      : `${formatCount(this.shown.length)} of ${formatNoun(all, 'write')}`
    this.element.hidden = all === 0
    this.rows.reset(this.shown.length, this.active)
    if (chosen >= 0) this.rows.show(chosen)
    if (hadFocus) this.focus()
  }

  /** Marks the lit writes. */
  light(): void {
    for (const [row, element] of this.rows.list()) {
      const write = this.shown[row] ?? -1
      const button = element.firstElementChild
      if (button !== null) toggle(button, 'data-lit', this.store.lit.includes(write))
    }
  }

  private createRow(row: number): HTMLElement {
    const { index, view, lit } = this.store
    const write = index.page.writes[this.shown[row] ?? -1]
    const button = h('button', {
      type: 'button',
      tabindex: row === this.active ? 0 : -1,
      'data-write': write?.id ?? null,
      'data-row': row,
      'data-lit': lit.includes(this.shown[row] ?? -1),
      'aria-pressed': write?.id === view.write ? 'true' : 'false',
    })
    if (write !== undefined) button.append(...this.describe(write))
    const place = { 'aria-posinset': row + 1, 'aria-setsize': this.shown.length }
    return h('li', { class: 'write', ...place }, button)
  }

  private describe({ id, wave, domains, items, seconds }: PageWrite): Node[] {
    const names = items.map(({ item, form }) =>
      `${this.store.index.page.items[item] ?? ''} ${formWords[form]}`.trim(),
    )
    const waves = this.store.index.page.waves.length > 1 ? `wave ${wave} · ` : ''
    return [
      h('span', { class: 'name' }, h('b', {}, `Write ${formatCount(id)}`), ` ${names.join(', ')}`),
      h('span', { class: 'soft' }, `${waves}${formatNoun(domains.length, 'domain')}`),
      h('span', { class: 'soft time', title: 'Earliest time' }, formatClock(seconds)),
    ]
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.shown.length - 1
    const steps: Record<string, number> = {
      ArrowUp: this.active - 1,
      ArrowDown: this.active + 1,
      PageUp: this.active - 8,
      PageDown: this.active + 8,
      Home: 0,
      End: last,
    }
    if (event.key === 'Escape') this.store.change({ write: null, cell: null })
    else {
      const next = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined
      if (next === undefined) return
      this.active = clamp(next, 0, last)
      this.focus()
    }
    event.preventDefault()
  }

  private onClick(event: Event): void {
    const row = findRow(event)
    const write = row === null ? undefined : this.store.index.page.writes[this.shown[row] ?? -1]
    if (row === null || write === undefined) return
    this.active = row
    const isChosen = this.store.view.write === write.id
    this.store.change({ write: isChosen ? null : write.id, cell: null })
  }

  private onPoint(event: Event): void {
    const row = findRow(event)
    if (row !== null) this.store.point([this.shown[row] ?? -1])
  }

  private focus(): void {
    const next = this.rows.show(this.active)?.querySelector('button')
    for (const old of this.body.querySelectorAll('[tabindex="0"]'))
      old.setAttribute('tabindex', '-1')
    if (!(next instanceof HTMLElement)) return
    next.tabIndex = 0
    next.focus({ preventScroll: true })
  }
}

function findRow({ target }: Event): number | null {
  const button = target instanceof Element ? target.closest('[data-row]') : null
  return button === null ? null : Number(button.getAttribute('data-row'))
}
