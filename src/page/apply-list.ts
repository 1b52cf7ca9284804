import type { PageApply } from '../model/page-history.ts'
import { createOutcome } from './apply-head.ts'
import { h } from './dom.ts'
import type { HistoryChoice } from './history-store.ts'
import { formatDay, formatTimeOfDay } from './history-words.ts'
import { listRows, type ListRow } from './list-rows.ts'
import type { Store } from './store.ts'
import { VirtualRows } from './virtual-rows.ts'
import { formatApplies, formatNoun } from './words.ts'

/** Height of a row, which the style sheet knows too. */
const rowHeight = 52

/** The time line of applies, the latest first: one tab stop, and arrow keys. */
export class ApplyList {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly choice: HistoryChoice
  private readonly heading = h('h2', { id: 'lh' })
  private readonly body = h('ol', { class: 'rows' })
  private readonly none = h('p', { class: 'none' }, 'No apply passes the filters.')
  private readonly rows: VirtualRows
  private shown: ListRow[] = []
  private active = 0
  private drawn: string | null = null

  constructor(store: Store, choice: HistoryChoice) {
    this.store = store
    this.choice = choice
    const port = h('div', { class: 'port' }, this.body)
    this.element = h('section', { class: 'panel applies', 'aria-labelledby': 'lh' })
    this.element.append(this.heading, port, this.none)
    this.rows = new VirtualRows(port, this.body, { row: rowHeight, header: () => 0 }, (row) =>
      this.createRow(row),
    )
    this.body.addEventListener('keydown', (event) => this.onKey(event))
    this.body.addEventListener('click', (event) => this.onClick(event))
  }

  /** Draws the applies that pass the filters; the list stays where it is if they are the same. */
  draw(): void {
    const { history, matches, chosen } = this.choice
    const hadFocus = this.body.contains(document.activeElement)
    const key = matches.join()
    if (this.drawn !== key) this.shown = listRows(history.applies, matches)
    const isFirst = this.drawn === null
    this.drawn = key
    const row = this.shown.findIndex((each) => each.kind === 'apply' && each.position === chosen)
    this.active = Math.max(0, row < 0 ? this.findNext(-1, 1) : row)
    const count = matches.length
    this.heading.textContent = formatApplies(count)
    this.none.hidden = this.shown.length > 0
    this.rows.reset(this.shown.length, this.active)
    if (row >= 0 && !(isFirst && row < 3)) this.rows.show(row)
    if (hadFocus) this.focus()
  }

  private createRow(row: number): HTMLElement {
    const entry = this.shown[row]
    if (entry?.kind === 'day') return h('li', { class: 'row-day' }, h('h3', {}, entry.text))
    if (entry?.kind === 'rollout') {
      const waves = h('span', { class: 'soft' }, formatNoun(entry.waves, 'wave'))
      const title = h('span', { class: 'name' }, 'Rollout ', h('code', {}, entry.id))
      return h('li', { class: 'row-rollout' }, title, waves)
    }
    const apply = this.choice.history.applies[entry?.position ?? -1]
    const button = h('button', {
      type: 'button',
      tabindex: row === this.active ? 0 : -1,
      'data-row': row,
      'data-apply': apply?.id ?? '',
      'aria-pressed': entry?.position === this.choice.chosen ? 'true' : 'false',
    })
    if (apply !== undefined) button.append(...describe(apply, entry?.isOtherDay === true))
    return h(
      'li',
      {
        class: 'row-apply',
        'data-outcome': apply?.outcome ?? null,
        'data-wave': entry?.isWave === true,
      },
      button,
    )
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.shown.length
    const steps: Record<string, () => number> = {
      ArrowUp: () => this.findNext(this.active, -1),
      ArrowDown: () => this.findNext(this.active, 1),
      PageUp: () => this.findNext(Math.max(0, this.active - 8) - 1, 1),
      PageDown: () => this.findNext(Math.min(last, this.active + 8 + 1), -1),
      Home: () => this.findNext(-1, 1),
      End: () => this.findNext(last, -1),
    }
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined
    if (step === undefined) return
    event.preventDefault()
    const next = step()
    if (next < 0) return
    this.active = next
    this.focus()
  }

  /** Finds the next row with an apply; -1 for none. */
  private findNext(from: number, step: 1 | -1): number {
    for (let row = from + step; row >= 0 && row < this.shown.length; row += step)
      if (this.shown[row]?.kind === 'apply') return row
    return -1
  }

  private onClick({ target }: Event): void {
    const button = target instanceof Element ? target.closest('[data-row]') : null
    const entry = this.shown[Number(button?.getAttribute('data-row') ?? -1)]
    if (entry?.kind !== 'apply') return
    const apply = this.choice.history.applies[entry.position]
    if (apply !== undefined) this.store.change({ apply: apply.id, cell: null })
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

function describe(apply: PageApply, isOtherDay: boolean): Node[] {
  const { outcome, rollout, startedAt, took, author, tree, writes } = apply
  const day = isOtherDay ? `${formatDay(startedAt).replace(/^(\d+ \w{3}).*/, '$1')}, ` : ''
  const wave = rollout === null ? null : `wave ${rollout.wave}`
  const about = [wave, author, tree, took].filter((text) => text !== null)
  return [
    h('span', { class: 'when' }, `${day}${formatTimeOfDay(startedAt)}`),
    createOutcome(outcome),
    h('span', { class: 'soft counts' }, writes === 'none' ? 'no write' : writes),
    h('span', { class: 'soft about' }, about.join(' · ')),
  ]
}
