import { formatClock, formatCount, formatNoun } from '../../core/model/page/page-words.ts'
import { createCard, createLines, createMore, describeHead } from './cards.ts'
import { createFacts, createName, h, moveFocus } from './dom.ts'
import { getChange, groupChanges, type FullChange } from './index-page.ts'
import type { Store } from './store.ts'

/** Cards that are shown at first, and that a press of the button adds. */
const someCards = 20

/** The details of the selected change, and all changes that pass the filters, equal ones as one. */
export class Details {
  readonly element: HTMLElement
  private readonly store: Store
  private readonly selected = h('section', { class: 'selected', 'data-details': true })
  private readonly heading = h('h2', { id: 'ch' })
  private readonly list = h('div', { class: 'cards' })
  private readonly spoken = h('p', { class: 'spoken', 'aria-live': 'polite' })
  private drawn: string | null = null
  private readonly afterClose: () => void

  /** @param afterClose called after the details of a change were closed */
  constructor(store: Store, afterClose: () => void) {
    this.store = store
    this.afterClose = afterClose
    this.element = h('section', { class: 'panel changes', id: 'changes', 'aria-labelledby': 'ch' })
    this.element.append(this.spoken, this.selected, this.heading, this.list)
  }

  /** Draws the selected change, and the others if they are not drawn yet. */
  draw(): void {
    const { index, view, shown: selection } = this.store
    const { matches, selected } = selection
    const change = getChange(index, selected)
    this.element.hidden = index.page.applies !== undefined && matches.length === 0
    this.selected.hidden = change === null
    this.selected.replaceChildren(...(change === null ? [] : this.describe(change)))
    this.announce(change)
    const filters = JSON.stringify({ ...view, cell: '' })
    if (this.drawn === filters) return
    this.drawn = filters
    const groups = groupChanges(index, matches)
    const isSame = groups.length === matches.length
    const count = formatNoun(matches.length, 'change')
    this.heading.textContent = isSame ? count : `${count} of ${formatNoun(groups.length, 'kind')}`
    this.list.replaceChildren()
    let shown = 0
    const more = createMore('')
    const add = () => {
      more.remove()
      const next = groups.slice(shown, shown + someCards)
      const cards = next.map((group) => createCard(this.store, group))
      this.list.append(...cards)
      shown += next.length
      if (shown < groups.length) {
        more.textContent = `Show more of ${formatCount(groups.length - shown)} others`
        this.list.append(more)
      }
      return cards[0]
    }
    more.addEventListener('click', () => moveFocus(add()))
    add()
    if (this.element.scrollTop > 0) this.element.scrollTop = 0
  }

  /** Lets screen readers announce the selected change, and scrolls to it where it is not beside. */
  private announce(change: FullChange | null): void {
    const { page } = this.store.index
    const domain = page.domains[change?.domain ?? -1] ?? ''
    const item = page.items[change?.what.item ?? -1] ?? ''
    const text = change === null ? '' : `Details of ${item} of ${domain}`
    if (this.spoken.textContent === text) return
    this.spoken.textContent = text
    if (change === null || this.drawn === null) return
    this.element.scrollTop = 0
    this.selected.scrollIntoView({ block: 'nearest' })
  }

  private describe(change: FullChange): Node[] {
    const { index } = this.store
    const { page } = index
    const close = h('button', { type: 'button', class: 'close' }, 'Close')
    close.addEventListener('click', () => {
      this.store.change({ cell: '' })
      this.afterClose()
    })
    const title = h('h2', {}, createName('domains', page.domains[change.domain] ?? ''))
    const lines = createLines(change.what)
    return [
      h('div', { class: 'bar' }, title, close),
      h(
        'article',
        { class: 'card', 'data-action': change.what.action },
        describeHead(index, change.what, null),
        change.what.note === '' ? null : h('p', { class: 'note' }, change.what.note),
        lines,
        this.describeFacts(change),
      ),
    ]
  }

  private describeFacts(change: FullChange): HTMLElement {
    const { page } = this.store.index
    const isHistory = page.applies !== undefined
    const { facts, add } = createFacts()
    for (const position of change.writes) {
      const write = page.writes[position]
      if (write === undefined) continue
      const link = h('button', { type: 'button', class: 'link' }, `Write ${formatCount(write.id)}`)
      link.addEventListener('click', () => this.store.change({ write: String(write.id) }))
      const others = formatNoun(write.domains.length, 'domain')
      add('Write', link, ` of ${others}, earliest ${formatClock(write.seconds)}`)
    }
    if (change.writes.length === 0 && !isHistory) add('Write', 'none')
    const wave = page.writes[change.writes[0] ?? -1]?.wave
    if (wave !== undefined && page.waves.length > 1)
      add('Wave', `${wave} of ${formatCount(page.waves.length)}`)
    if (change.place !== null) add('Manifest', h('code', {}, change.place))
    if (change.state !== null) add(isHistory ? 'Outcome' : 'State', change.state)
    return facts
  }
}
