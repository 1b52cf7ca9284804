import type { PageIndex } from './index-page.ts'
import { select, type Selection } from './select.ts'
import { emptyView, formatHash, parseHash, type View } from './view.ts'

/** The view and the light, with those who draw them. */
export class Store {
  readonly index: PageIndex
  view: View
  shown: Selection
  /** Positions of the writes that are lit. */
  lit: readonly number[]
  private readonly drawers: { draw(): void; light?(): void }[] = []

  constructor(index: PageIndex) {
    this.index = index
    this.view = parseHash(location.hash)
    this.shown = select(index, this.view)
    this.lit = this.shown.lit
    // A hash without a value is a link to a heading.
    addEventListener('hashchange', () => {
      if (location.hash !== '' && !location.hash.includes('=')) return
      if (formatHash(parseHash(location.hash)) !== formatHash(this.view)) this.setView()
    })
  }

  /** Adds something that is drawn now and whenever the view changes. */
  add(drawer: { draw(): void; light?(): void }): void {
    this.drawers.push(drawer)
    drawer.draw()
  }

  /** Changes the view and the address; a replaced address is no step of its own back. */
  change(changes: Partial<View>, replaces = false): void {
    const view = { ...this.view, ...changes }
    const hash = formatHash(view)
    if (hash === formatHash(this.view)) return
    // A hash without anything would scroll to the top.
    const address = hash === '#' ? location.pathname + location.search : hash
    if (replaces) history.replaceState(null, '', address)
    else history.pushState(null, '', address)
    this.setView(view)
  }

  /** Removes all filters and the selection. */
  clear(): void {
    this.change(emptyView)
  }

  /** Lights up the writes that the reader points at; null for none. */
  point(writes: readonly number[] | null): void {
    this.lit = writes ?? this.shown.lit
    for (const drawer of this.drawers) drawer.light?.()
  }

  private setView(view = parseHash(location.hash)): void {
    this.view = view
    this.shown = select(this.index, view)
    this.lit = this.shown.lit
    for (const drawer of this.drawers) drawer.draw()
    this.point(null)
  }
}
