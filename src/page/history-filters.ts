import { applyOutcomes } from '../model/applied.ts'
import { h } from './dom.ts'
import { isFiltered } from './filter.ts'
import { createSelect, field } from './filters.ts'
import { isByChange } from './history-index.ts'
import type { HistoryChoice } from './history-store.ts'
import type { Store } from './store.ts'
import { formatApplies, formatCount } from './words.ts'

/** The filters of a history, and how many applies pass them. */
export class HistoryFilters {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly choice: HistoryChoice
  private readonly domain = h('input', {
    name: 'domain',
    type: 'search',
    placeholder: 'Part of a name',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  private readonly boxes: { name: 'item' | 'outcome' | 'author'; box: HTMLSelectElement }[]
  private readonly count = h('p', { 'data-count': true, role: 'status' })
  private readonly rest = h('p', { class: 'soft rest' })
  private readonly clear = h('button', { type: 'button', class: 'clear' }, 'Clear filters')
  private isTyping = false

  constructor(store: Store, choice: HistoryChoice) {
    this.store = store
    this.choice = choice
    const { page, applies } = choice.history
    const authors = [...new Set(applies.flatMap(({ author }) => author ?? []))].toSorted()
    const outcomes = applyOutcomes.filter((each) => applies.some(({ outcome }) => outcome === each))
    const select = (name: 'item' | 'outcome' | 'author', values: readonly string[]) => ({
      name,
      box: createSelect(
        name,
        values.map((value) => [value, value]),
      ),
    })
    const [item, outcome, author] = [
      select('item', page.items.toSorted()),
      select('outcome', outcomes),
      select('author', authors),
    ]
    this.boxes = [item, outcome, author]
    this.element = h(
      'form',
      { class: 'filters', role: 'search', 'aria-label': 'Filter the applies' },
      field('Domain', this.domain),
      field('Item', item.box),
      field('Outcome', outcome.box),
      field('Author', author.box, authors.length === 0),
      this.clear,
      this.count,
      this.rest,
    )
    this.element.addEventListener('submit', (event) => event.preventDefault())
    this.domain.addEventListener('focus', () => (this.isTyping = false))
    this.domain.addEventListener('input', () => {
      // The first letter is a step back of its own, the others are not.
      store.change({ domain: this.domain.value, apply: '', cell: null }, this.isTyping)
      this.isTyping = true
    })
    this.clear.addEventListener('click', () => {
      store.clear()
      this.domain.focus()
    })
    for (const { name, box } of this.boxes)
      box.addEventListener('input', () =>
        store.change({ [name]: box.value, apply: '', cell: null }),
      )
  }

  /** Shows the filters of the view, and the number of applies. */
  draw(): void {
    const { view } = this.store
    const { history, matches } = this.choice
    if (this.domain.value !== view.domain) this.domain.value = view.domain
    for (const { name, box } of this.boxes) box.value = view[name]
    const filters = isFiltered({ ...view, apply: '' })
    this.clear.hidden = !filters
    const all = formatApplies(history.applies.length)
    this.count.textContent = filters ? `${formatCount(matches.length)} of ${all}` : all
    const unknown = history.applies.filter(({ changes }) => changes === null).length
    this.rest.hidden = unknown === 0 || !isByChange(view)
    const what = `What ${formatApplies(unknown)} changed`
    this.rest.textContent = `${what} is not in this file: more of them may match.`
  }
}
