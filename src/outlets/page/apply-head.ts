import type { PageApply } from '../../core/model/page/page.ts'
import { formatInstant } from '../../core/model/text/words.ts'
import { createFacts, createName, h } from './dom.ts'
import { createOutcome } from './entries.ts'
import type { Store } from './store.ts'

/** The chosen apply of a history: when, by whom, its outcome, and how to roll it back. */
export class ApplyHead {
  readonly element = h('section', { class: 'panel apply', 'aria-labelledby': 'ah' })
  private readonly store: Store
  private readonly spoken = h('p', { class: 'spoken', 'aria-live': 'polite' })
  private readonly body = h('div', {})

  constructor(store: Store) {
    this.store = store
    this.element.append(this.spoken, this.body)
  }

  /** Draws the chosen apply. */
  draw(): void {
    const { index, shown, view } = this.store
    const apply = index.page.applies?.[shown.chosen ?? -1]
    this.element.hidden = apply === undefined
    this.spoken.textContent = apply === undefined || view.apply === '' ? '' : `Apply ${apply.id}`
    if (apply !== undefined)
      this.body.replaceChildren(...describe(apply, shown.chosen === 0 ? 'Last apply ' : 'Apply '))
  }
}

function describe(apply: PageApply, title: string): Node[] {
  const { id, outcome, rollout, took, author, grounds, tree, writes, parts, rollback, note } = apply
  const { facts, add } = createFacts()
  add('Started', `${formatInstant(apply.startedAt)}, took ${took}`)
  if (author !== null) add('Author', author)
  if (grounds !== '') add('Why', grounds)
  if (tree !== null) add('Manifests', tree)
  add('Writes', writes)
  if (parts !== '') add('Items of domains', parts)
  if (rollout !== null) {
    const name = createName('rollouts', rollout.id)
    add('Rollout', `wave ${rollout.wave} of `, h('code', {}, name))
  }
  if (rollback !== null) add('Roll back', h('code', { class: 'command' }, rollback))
  const all = rollback === null ? null : (rollout?.rollback ?? null)
  if (all !== null) add('All waves', h('code', { class: 'command' }, all))
  return [
    h(
      'div',
      { class: 'bar' },
      h('h2', { id: 'ah' }, title, h('code', {}, id)),
      createOutcome(outcome),
    ),
    facts,
    ...(note === '' ? [] : [h('p', { class: 'note' }, note)]),
  ]
}
