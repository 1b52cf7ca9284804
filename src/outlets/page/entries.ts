import { formatInstant } from '../../core/model/text/words.ts'
import type { FormName } from '../../core/model/change.ts'
import type { PageApply, PageWrite } from '../../core/model/page/page.ts'
import { formatClock, formatCount, formatNoun } from '../../core/model/page/page-words.ts'
import { focusOnly, h, toggleLit } from './dom.ts'
import { clamp } from './moves.ts'
import type { Store } from './store.ts'
import { VirtualRows } from './virtual-rows.ts'

/** Height of a row, which the style sheet knows too. */
const rowHeight = 46

/** Words for the effect of a form on an item; a plain replacement needs no word. */
const formWords: Record<FormName, string> = {
  replace: '',
  append: 'append',
  add: 'add',
  remove: 'remove',
  switch: 'switch',
  unset: 'unset',
  delete: 'unset by DELETE',
}

/** The list of writes, or of the applies of a history: one tab stop, and arrow keys. */
export class Entries {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly heading = h('h2', { id: 'wh' })
  private readonly body = h('ol', { class: 'rows' })
  private readonly none: HTMLElement
  private readonly rows: VirtualRows
  private active = 0

  constructor(store: Store) {
    this.store = store
    const isHistory = store.index.page.applies !== undefined
    this.none = h('p', { class: 'none' }, `No ${isHistory ? 'apply' : 'write'} passes the filters.`)
    const port = h('div', { class: 'port' }, this.body)
    this.element = h('section', { class: 'panel entries', 'aria-labelledby': 'wh' })
    this.element.append(this.heading, port, this.none)
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

  /** Draws the entries that pass the filters; the chosen one stays among the others. */
  draw(): void {
    const { index, shown } = this.store
    const { entries } = shown
    const hadFocus = this.body.contains(document.activeElement)
    const chosen = entries.indexOf(shown.chosen ?? -1)
    this.active = chosen < 0 ? clamp(this.active, Math.max(0, entries.length - 1)) : chosen
    const { applies, writes } = index.page
    const all = applies?.length ?? writes.length
    const noun = applies === undefined ? 'write' : 'apply'
    const count = formatNoun(all, noun, applies === undefined ? 'writes' : 'applies')
    const isAll = entries.length === all
    this.heading.textContent = isAll ? count : `${formatCount(entries.length)} of ${count}`
    this.element.hidden = all === 0
    this.none.hidden = entries.length > 0
    this.rows.reset(entries.length, this.active)
    if (chosen >= 0) this.rows.show(chosen)
    if (hadFocus) this.focus()
  }

  /** Marks the lit writes. */
  light(): void {
    for (const [row, element] of this.rows.list()) {
      const button = element.firstElementChild
      if (button !== null) toggleLit(button, this.isLit(row))
    }
  }

  private isLit(row: number): boolean {
    return this.store.lit.includes(this.store.shown.entries[row] ?? -1)
  }

  private createRow(row: number): HTMLElement {
    const { index, shown } = this.store
    const position = shown.entries[row] ?? -1
    const write = index.page.writes[position]
    const apply = index.page.applies?.[position]
    const button = h('button', {
      type: 'button',
      tabindex: row === this.active ? 0 : -1,
      'data-write': write?.id ?? null,
      'data-apply': apply?.id ?? null,
      'data-row': row,
      'data-lit': this.isLit(row),
      'aria-pressed': position === shown.chosen ? 'true' : 'false',
    })
    if (write !== undefined) button.append(...this.describeWrite(write))
    if (apply !== undefined) button.append(...describeApply(apply))
    const place = { 'aria-posinset': row + 1, 'aria-setsize': shown.entries.length }
    return h('li', { class: 'entry', ...place }, button)
  }

  private describeWrite({ id, wave, domains, items, seconds }: PageWrite): Node[] {
    const { page } = this.store.index
    const names = items.map(({ item, form }) =>
      `${page.items[item] ?? ''} ${formWords[form]}`.trim(),
    )
    const waves = page.waves.length > 1 ? `wave ${wave} · ` : ''
    return [
      h('span', { class: 'name' }, h('b', {}, `Write ${formatCount(id)}`), ` ${names.join(', ')}`),
      h('span', { class: 'soft' }, `${waves}${formatNoun(domains.length, 'domain')}`),
      h('span', { class: 'soft time', title: 'Earliest time' }, formatClock(seconds)),
    ]
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.store.shown.entries.length - 1
    const steps: Record<string, number> = {
      ArrowUp: this.active - 1,
      ArrowDown: this.active + 1,
      PageUp: this.active - 8,
      PageDown: this.active + 8,
      Home: 0,
      End: last,
    }
    if (event.key === 'Escape') this.store.change({ write: '', apply: '', cell: '' })
    else {
      const next = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined
      if (next === undefined) return
      this.active = clamp(next, last)
      this.focus()
    }
    event.preventDefault()
  }

  private onClick(event: Event): void {
    const row = findRow(event)
    if (row === null) return
    this.active = row
    const { index, shown, view } = this.store
    const position = shown.entries[row] ?? -1
    const write = String(index.page.writes[position]?.id ?? '')
    const apply = index.page.applies?.[position]?.id ?? ''
    this.store.change({ write: write === view.write ? '' : write, apply, cell: '' })
  }

  private onPoint(event: Event): void {
    const row = findRow(event)
    if (row !== null) this.store.point([this.store.shown.entries[row] ?? -1])
  }

  private focus(): void {
    focusOnly(this.body, this.rows.show(this.active)?.querySelector('button'))
  }
}

function describeApply({
  outcome,
  rollout,
  startedAt,
  took,
  author,
  grounds,
  tree,
  writes,
}: PageApply): Node[] {
  const wave = rollout === null ? null : `wave ${rollout.wave} of ${rollout.id}`
  const about = [wave, grounds || null, author, tree, took].filter((text) => text !== null)
  return [
    h('span', { class: 'name' }, createOutcome(outcome), ` ${formatInstant(startedAt)}`),
    h('span', { class: 'soft by' }, about.join(' · ')),
    h('span', { class: 'soft time' }, writes === 'none' ? 'no write' : writes),
  ]
}

/** Creates the word of an outcome, in its colour. */
export function createOutcome(outcome: PageApply['outcome']): HTMLElement {
  return h('b', { class: 'tag', 'data-outcome': outcome }, outcome)
}

function findRow({ target }: Event): number | null {
  const button = target instanceof Element ? target.closest('[data-row]') : null
  return button === null ? null : Number(button.getAttribute('data-row'))
}
