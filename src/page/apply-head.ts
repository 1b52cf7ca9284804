import type { PageApply } from '../model/page-history.ts'
import { h } from './dom.ts'
import type { HistoryChoice } from './history-store.ts'
import { formatInstant } from './history-words.ts'
import type { Store } from './store.ts'

/** The chosen apply: when, by whom, its outcome, and how to roll it back. */
export class ApplyHead {
  readonly element = h('section', { class: 'panel apply', 'aria-labelledby': 'ah' })
  private readonly store: Store
  private readonly choice: HistoryChoice
  private readonly spoken = h('p', { class: 'spoken', 'aria-live': 'polite' })
  private readonly body = h('div', {})
  private drawn: string | null = null

  constructor(store: Store, choice: HistoryChoice) {
    this.store = store
    this.choice = choice
    this.element.append(this.spoken, this.body)
  }

  /** Draws the chosen apply. */
  draw(): void {
    const apply = this.choice.history.applies[this.choice.chosen ?? -1]
    this.element.hidden = apply === undefined
    if (apply === undefined) return
    const isOther = this.drawn !== null && this.drawn !== apply.id
    this.drawn = apply.id
    this.body.replaceChildren(...this.describe(apply))
    if (isOther && this.store.view.apply !== '') this.element.scrollIntoView({ block: 'nearest' })
    this.spoken.textContent = this.store.view.apply === '' ? '' : `Apply ${apply.id}`
  }

  private describe(apply: PageApply): Node[] {
    const { id, outcome, rollout, took, author, tree, writes, parts, rollback, note } = apply
    const facts = h('dl', { class: 'rowfacts' })
    const add = (label: string, ...value: (Node | string)[]) =>
      facts.append(h('dt', {}, label), h('dd', {}, ...value))
    add('Started', `${formatInstant(apply.startedAt)}, took ${took}`)
    if (author !== null) add('Author', author)
    if (tree !== null) add('Manifests', tree)
    add('Writes', writes)
    if (parts !== '') add('Items of domains', parts)
    if (rollout !== null) add('Rollout', `wave ${rollout.wave} of `, h('code', {}, rollout.id))
    if (rollback !== null) add('Roll back', h('code', { class: 'command' }, rollback))
    const all = rollback === null ? null : (rollout?.rollback ?? null)
    if (all !== null) add('All waves', h('code', { class: 'command' }, all))
    const isNewest = this.choice.chosen === 0
    return [
      h(
        'div',
        { class: 'bar' },
        h('h2', { id: 'ah' }, isNewest ? 'Last apply ' : 'Apply ', h('code', {}, id)),
        createOutcome(outcome),
      ),
      facts,
      ...(note === '' ? [] : [h('p', { class: 'note' }, note)]),
    ]
  }
}

/** Creates the word of an outcome, in its colour. */
export function createOutcome(outcome: PageApply['outcome']): HTMLElement {
  return h('b', { class: 'outcome', 'data-outcome': outcome }, outcome)
}
