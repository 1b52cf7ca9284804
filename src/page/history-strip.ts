import { formatDay } from '../model/format-time.ts'
import { h, svg } from './dom.ts'
import type { HistoryChoice } from './history-store.ts'
import { formatNoun } from './words.ts'

const dayMs = 86_400_000
/** Most columns of the drawing: more days than that share one. */
const maxColumns = 120
/** Outcomes from the bottom of a column to its top. */
const stack = ['complete', 'incomplete', 'interrupted', 'unfinished'] as const

/** Applies over the days, with the outcomes of each column. */
export class HistoryStrip {
  readonly element = h('section', { class: 'panel strip', 'aria-labelledby': 'sh' })
  private readonly choice: HistoryChoice
  private readonly from: number
  private readonly columnDays: number
  private readonly columns: number
  private readonly drawing = svg('svg', {
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  })

  constructor(choice: HistoryChoice) {
    this.choice = choice
    const days = choice.history.applies.flatMap(({ startedAt }) => findDay(startedAt) ?? [])
    this.from = days.reduce((least, day) => Math.min(least, day), Infinity)
    const to = days.reduce((most, day) => Math.max(most, day), -Infinity)
    const count = Math.max(1, to - this.from + 1)
    this.columnDays = Math.ceil(count / maxColumns)
    this.columns = Math.ceil(count / this.columnDays)
    // One day is no line.
    this.element.hidden = !Number.isFinite(this.from) || count < 2
    const unit = this.columnDays === 1 ? 'day' : formatNoun(this.columnDays, 'day')
    const name = (day: number) => formatDay(new Date(day * dayMs).toISOString())
    if (this.element.hidden) return
    this.element.append(
      h('h2', { id: 'sh', class: 'spoken' }, 'Applies over time'),
      legend(choice, `Applies per ${unit}`),
      this.drawing,
      h('p', { class: 'ends soft' }, h('span', {}, name(this.from)), h('span', {}, name(to))),
    )
  }

  /** Draws a column for each day; applies that do not pass the filters are pale. */
  draw(): void {
    const { history, matches, chosen } = this.choice
    const passes = new Set(matches)
    const counts = Array.from({ length: this.columns }, () => new Map<string, number>())
    let marked = -1
    history.applies.forEach(({ startedAt, outcome }, position) => {
      const day = findDay(startedAt)
      if (day === null) return
      const column = Math.floor((day - this.from) / this.columnDays)
      if (position === chosen) marked = column
      const key = passes.has(position) ? outcome : 'pale'
      counts[column]?.set(key, (counts[column]?.get(key) ?? 0) + 1)
    })
    const totals = counts.map((column) => [...column.values()].reduce((all, n) => all + n, 0))
    const most = totals.reduce((greatest, total) => Math.max(greatest, total), 1)
    const paths = [...stack, 'pale'].map((outcome) => ({ outcome, d: '' }))
    counts.forEach((column, x) => {
      let y = 40
      for (const path of paths) {
        const height = ((column.get(path.outcome) ?? 0) * 38) / most
        if (height === 0) continue
        y -= height
        path.d += `M${x * 10 + 1} ${y.toFixed(2)}h8v${height.toFixed(2)}h-8z`
      }
    })
    this.drawing.setAttribute('viewBox', `0 0 ${this.columns * 10} 46`)
    const mark =
      marked < 0 ? [] : [svg('path', { class: 'mark', d: `M${marked * 10} 42h10v3h-10z` })]
    this.drawing.replaceChildren(
      ...paths.map(({ outcome, d }) => svg('path', { 'data-outcome': outcome, d })),
      ...mark,
    )
  }
}

function findDay(iso: string): number | null {
  const ms = Date.parse(iso)
  return Number.isFinite(ms) ? Math.floor(ms / dayMs) : null
}

function legend({ history }: HistoryChoice, title: string): HTMLElement {
  const entries = stack.flatMap((outcome) => {
    const count = history.applies.filter((apply) => apply.outcome === outcome).length
    return count === 0 ? [] : [h('li', { 'data-outcome': outcome }, `${count} ${outcome}`)]
  })
  return h('div', { class: 'bar' }, h('p', { class: 'soft' }, title), h('ul', {}, ...entries))
}
