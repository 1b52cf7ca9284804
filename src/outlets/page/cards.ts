import { symbols } from '../../core/model/change.ts'
import type { PagePart } from '../../core/model/page/page.ts'
import { formatCount, formatNoun } from '../../core/model/page/page-words.ts'
import { h, moveFocus } from './dom.ts'
import type { FullChange, PageIndex } from './index-page.ts'
import type { Store } from './store.ts'

/** Up to this number of changes, all are a list to read, and the matrix is beside it. */
const maxReadChanges = 30
/** Lines and domains of a card before its buttons are pressed. */
const firstLines = 24
const firstDomains = 6
/** Domains that a press of the button adds. */
const moreDomains = 200

/** Creates a card of changes that look the same: what changes, and in which domains. */
export function createCard(store: Store, changes: FullChange[]): Node {
  const what = changes[0]?.what
  if (what === undefined) return h('article')
  const count = changes.length === 1 ? null : formatNoun(changes.length, 'domain')
  return h(
    'article',
    { class: 'card', 'data-action': what.action },
    describeHead(store.index, what, count),
    what.note === '' ? null : h('p', { class: 'note' }, what.note),
    createLines(what),
    createDomains(store, changes),
  )
}

/** Creates the head of a card: symbol, item, action. */
export function describeHead(
  { page }: PageIndex,
  what: PagePart,
  count: string | null,
): HTMLElement {
  return h(
    'header',
    {},
    h('b', { class: 'sign', 'aria-hidden': 'true' }, symbols[what.action]),
    h('h3', {}, h('code', {}, page.items[what.item] ?? ''), ` ${what.action}`),
    what.isDestructive ? h('strong', { class: 'tag destructive' }, 'Destructive') : null,
    count === null ? null : h('span', { class: 'soft count' }, count),
  )
}

/** Creates the lines before and after; the first ones, and a button for the others. */
export function createLines({ lines }: PagePart): HTMLElement | null {
  if (lines.length === 0) return null
  const list = h('div', { class: 'lines' })
  const add = (from: number, to: number) => {
    for (const { action, indent, text, isRemark } of lines.slice(from, to)) {
      const attributes = { class: isRemark ? 'line remark' : 'line', 'data-action': action }
      const sign = h('span', { class: 'mark' }, action === null ? ' ' : symbols[action])
      const line = h('div', attributes, sign, h('span', { class: 'text', dir: 'auto' }, text))
      line.style.setProperty('--indent', String(Math.min(indent, 24)))
      list.append(line)
    }
  }
  // A button that hides two lines would take their place.
  const shown = lines.length <= firstLines + 2 ? lines.length : firstLines
  add(0, shown)
  if (shown < lines.length) {
    const button = createMore(`Show all ${formatCount(lines.length)} lines`)
    button.addEventListener('click', () => {
      button.remove()
      add(shown, lines.length)
      moveFocus(list)
    })
    list.append(button)
  }
  return list
}

function createDomains(store: Store, changes: FullChange[]): HTMLElement {
  const list = h('ul', { class: 'domains' })
  let shown = 0
  const button = createMore('')
  const add = (count: number) => {
    button.remove()
    for (const change of changes.slice(shown, shown + count))
      list.append(createDomain(store, change))
    shown += count
    const left = changes.length - shown
    if (left <= 0) return
    button.textContent = `Show ${formatCount(Math.min(left, moreDomains))} more`
    if (left > moreDomains) button.textContent += ` of ${formatCount(left)}`
    list.append(h('li', {}, button))
  }
  button.addEventListener('click', () => {
    button.parentElement?.remove()
    const before = shown
    add(moreDomains)
    moveFocus(list.children[before])
  })
  add(changes.length <= firstDomains + 2 || isSmall(store) ? maxReadChanges : firstDomains)
  return list
}

function createDomain(store: Store, change: FullChange): HTMLElement {
  const { page } = store.index
  const domain = page.domains[change.domain] ?? ''
  const item = page.items[change.what.item] ?? ''
  const button = h('button', { type: 'button', class: 'domain', title: domain }, domain)
  button.addEventListener('click', () => store.change({ cell: `${domain}/${item}` }))
  button.addEventListener('mouseenter', () => store.point(change.writes))
  button.addEventListener('mouseleave', () => store.point(null))
  button.addEventListener('focus', () => store.point(change.writes))
  button.addEventListener('blur', () => store.point(null))
  const place = isSmall(store) ? change.place : null
  const facts = [describeWrites(store.index, change), change.state, place]
  const text = facts.filter((fact) => fact !== null && fact !== '').join(' · ')
  return h('li', {}, button, h('span', { class: 'soft' }, text))
}

/** Reports whether a page has few changes. */
export function isSmall({ index }: Store): boolean {
  return index.page.changes.length <= maxReadChanges
}

/** Describes the writes that make a change, and their wave if there are several. */
export function describeWrites({ page }: PageIndex, { writes }: FullChange): string {
  const first = page.writes[writes[0] ?? -1]
  if (first === undefined) return page.applies === undefined ? 'no write' : ''
  const ids = writes.map((write) => formatCount(page.writes[write]?.id ?? 0))
  const wave = page.waves.length > 1 ? ` · wave ${first.wave}` : ''
  const shown = ids.length > 4 ? [...ids.slice(0, 3), `${ids.length - 3} more`] : ids
  return `write${ids.length === 1 ? '' : 's'} ${shown.join(', ')}${wave}`
}

/** Creates a button that shows more. */
export function createMore(text: string): HTMLButtonElement {
  return h('button', { type: 'button', class: 'more' }, text)
}
