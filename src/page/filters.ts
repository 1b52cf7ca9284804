import { h } from './dom.ts'
import { isFiltered, type View } from './filter.ts'
import type { Store } from './store.ts'
import { formatCount, formatNoun, symbols } from './words.ts'

type Choice = 'item' | 'action' | 'write' | 'wave'

/** The filters, and how many changes pass them. */
export class Filters {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly domain = h('input', {
    name: 'domain',
    type: 'search',
    placeholder: 'Part of a name',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  private readonly choices: { name: Choice; box: HTMLSelectElement | HTMLInputElement }[]
  private readonly count = h('p', { 'data-count': true, role: 'status' })
  private readonly clear = h('button', { type: 'button', class: 'clear' }, 'Clear filters')
  private isTyping = false

  constructor(store: Store) {
    this.store = store
    const { page } = store.index
    const actions = Object.entries(symbols).filter(([action]) =>
      page.parts.some((part) => part.action === action),
    )
    const item = createSelect(
      'item',
      page.items.map((name) => [name, name]),
    )
    const action = createSelect(
      'action',
      actions.map(([name, sign]) => [name, `${sign} ${name}`]),
    )
    // A fleet has thousands of writes: too many for a list of choices.
    const write = h('input', {
      name: 'write',
      inputmode: 'numeric',
      placeholder: 'all',
      autocomplete: 'off',
      class: 'short',
    })
    const wave = createSelect(
      'wave',
      page.waves.map((w) => [String(w.wave), formatCount(w.wave)]),
    )
    this.choices = [
      { name: 'item', box: item },
      { name: 'action', box: action },
      { name: 'write', box: write },
      { name: 'wave', box: wave },
    ]
    this.element = h(
      'form',
      { class: 'filters', role: 'search', 'aria-label': 'Filter the changes' },
      field('Domain', this.domain),
      field('Item', item),
      field('Action', action),
      field('Write', write, page.writes.length < 2),
      field('Wave', wave, page.waves.length < 2),
      this.clear,
      this.count,
    )
    this.element.addEventListener('submit', (event) => event.preventDefault())
    this.domain.addEventListener('focus', () => (this.isTyping = false))
    this.domain.addEventListener('input', () => this.onType())
    this.clear.addEventListener('click', () => this.onClear())
    for (const { name, box } of this.choices)
      box.addEventListener('input', () => store.change(parseChoice(name, box.value)))
  }

  /** Shows the filters of the view and the number of changes. */
  draw(): void {
    const { index, view, matches } = this.store
    if (this.domain.value !== view.domain) this.domain.value = view.domain
    for (const { name, box } of this.choices) box.value = String(view[name] ?? '')
    this.clear.hidden = !isFiltered(view)
    const { changes } = index.page
    const domains = new Set(matches.map((position) => changes[position]?.domain))
    const all = formatNoun(changes.length, 'change')
    this.count.textContent = isFiltered(view)
      ? `${formatCount(matches.length)} of ${all}, ${formatNoun(domains.size, 'domain')}`
      : `${all}, ${formatNoun(domains.size, 'domain')}`
  }

  /** The first letter is a step back of its own, the others are not. */
  private onType(): void {
    this.store.change({ domain: this.domain.value }, this.isTyping)
    this.isTyping = true
  }

  private onClear(): void {
    this.store.clear()
    this.domain.focus()
  }
}

function parseChoice(name: Choice, value: string): Partial<View> {
  if (name === 'item' || name === 'action') return { [name]: value }
  return { [name]: /^\d{1,9}$/.test(value.trim()) ? Number(value) : null }
}

/** Creates a list of choices; the first one is all. */
export function createSelect(
  name: string,
  choices: [value: string, text: string][],
): HTMLSelectElement {
  const box = h('select', { name }, h('option', { value: '' }, 'all'))
  for (const [value, text] of choices) box.append(h('option', { value }, text))
  return box
}

/** Creates a control with its label. */
export function field(label: string, control: HTMLElement, isHidden = false): HTMLElement {
  return h('label', { class: 'field', hidden: isHidden }, h('span', {}, label), control)
}
