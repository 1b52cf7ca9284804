import { symbols } from '../../core/model/change.ts'
import { formatCount, formatNoun } from '../../core/model/page/page-words.ts'
import { createLabel, h } from './dom.ts'
import { isByChange } from './select.ts'
import type { Store } from './store.ts'
import { isFiltered, type View } from './view.ts'

interface Field {
  name: keyof View
  label: string
  box: HTMLInputElement | HTMLSelectElement
}

/** The filters, and how many changes, or applies of a history, pass them. */
export class Filters {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly domain = createInput('domain', {
    type: 'search',
    placeholder: 'Part of a name',
    spellcheck: 'false',
  })
  private readonly fields: Field[]
  private readonly count = h('p', { 'data-count': true, role: 'status' })
  private readonly rest = h('p', { class: 'soft rest' })
  private readonly clear = h('button', { type: 'button', class: 'clear' }, 'Clear filters')
  private isTyping = false

  constructor(store: Store) {
    this.store = store
    this.fields = listFields(store)
    const what = store.index.page.applies === undefined ? 'changes' : 'applies'
    this.element = h(
      'form',
      { class: 'filters', role: 'search', 'aria-label': `Filter the ${what}` },
      ...[{ label: 'Domain', box: this.domain }, ...this.fields].map(createLabel),
      this.clear,
      this.count,
      this.rest,
    )
    this.element.addEventListener('submit', (event) => event.preventDefault())
    this.domain.addEventListener('focus', () => (this.isTyping = false))
    this.domain.addEventListener('input', () => this.onInput('domain', this.domain.value))
    this.clear.addEventListener('click', () => {
      store.clear()
      this.domain.focus()
    })
    for (const { name, box } of this.fields)
      box.addEventListener('input', () => {
        this.isTyping = false
        this.onInput(name, box.value)
      })
  }

  /** Shows the filters of the view, and how much passes them. */
  draw(): void {
    const { index, view, shown } = this.store
    if (this.domain.value !== view.domain) this.domain.value = view.domain
    for (const { name, box } of this.fields) if (box.value !== view[name]) box.value = view[name]
    const filters = isFiltered(view)
    this.clear.hidden = !filters
    const { applies, changes } = index.page
    if (applies === undefined) {
      const domains = new Set(shown.matches.map((position) => changes[position]?.domain))
      const all = formatNoun(changes.length, 'change')
      const passed = filters ? `${formatCount(shown.matches.length)} of ${all}` : all
      this.count.textContent = `${passed}, ${formatNoun(domains.size, 'domain')}`
    } else {
      const all = formatNoun(applies.length, 'apply', 'applies')
      this.count.textContent = filters ? `${formatCount(shown.entries.length)} of ${all}` : all
    }
    const unknown = applies?.filter(({ hasChanges }) => !hasChanges).length ?? 0
    this.rest.hidden = unknown === 0 || !isByChange(view)
    const what = `What ${formatNoun(unknown, 'apply', 'applies')} changed`
    this.rest.textContent = `${what} is not in this file: more of them may match.`
  }

  private onInput(name: keyof View, value: string): void {
    const isHistory = this.store.index.page.applies !== undefined
    const text = name === 'write' && !/^\d{1,9}$/.test(value.trim()) ? '' : value
    // The first letter is a step back of its own, the others are not.
    const replaces = name === 'domain' && this.isTyping
    this.isTyping = name === 'domain'
    this.store.change({ [name]: text, ...(isHistory ? { apply: '', cell: '' } : {}) }, replaces)
  }
}

function listFields({ index: { page } }: Store): Field[] {
  const { applies, items, parts, waves, writes } = page
  const select = (
    name: keyof View,
    label: string,
    values: string[],
    sign?: (v: string) => string,
  ) => (values.length === 0 ? [] : [{ name, label, box: createSelect(name, values, sign) }])
  if (applies !== undefined)
    return [
      ...select('item', 'Item', items.toSorted()),
      ...select('outcome', 'Outcome', listDistinct(applies.map(({ outcome }) => outcome))),
      ...select('author', 'Author', listDistinct(applies.flatMap(({ author }) => author ?? []))),
    ]
  const signs = Object.entries(symbols)
  const actions = signs.flatMap(([name]) =>
    parts.some(({ action }) => action === name) ? name : [],
  )
  const numbers = waves.map(({ wave }) => wave).toSorted((a, b) => a - b)
  // A fleet has thousands of writes: too many for a list of choices.
  const write = createInput('write', { inputmode: 'numeric', placeholder: 'all', class: 'short' })
  return [
    ...select('item', 'Item', items),
    ...select('action', 'Action', actions, (name) => {
      const [, sign = ''] = signs.find(([each]) => each === name) ?? []
      return `${sign} ${name}`
    }),
    ...select('kind', 'Kind', listDistinct(parts.flatMap(({ kinds = [] }) => kinds))),
    ...(writes.length < 2 ? [] : [{ name: 'write' as const, label: 'Write', box: write }]),
    ...(waves.length < 2 ? [] : select('wave', 'Wave', numbers.map(String))),
  ]
}

function listDistinct(values: string[]): string[] {
  return [...new Set(values)].toSorted()
}

/** Creates a box for a text. */
export function createInput(name: string, attributes: Record<string, string>): HTMLInputElement {
  return h('input', { name, autocomplete: 'off', ...attributes })
}

/** Creates a list of choices; the first one is none of them. */
export function createSelect<Value extends string>(
  name: string,
  values: readonly Value[],
  format: (value: Value) => string = (value) => value,
  first = 'all',
): HTMLSelectElement {
  const box = h('select', { name }, h('option', { value: '' }, first))
  for (const value of values) box.append(h('option', { value }, format(value)))
  return box
}
