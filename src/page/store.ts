import { emptyView, formatHash, matchChanges, parseHash, type View } from './filter.ts'
import type { PageIndex } from './index-page.ts'
import { listLitWrites } from './lit.ts'

/** The view and the light, with those who draw them. */
export class Store {
  index: PageIndex
  view: View
  /** Positions of the changes that pass the filters. */
  matches: number[] = []
  /** Positions of the writes that are lit. */
  lit: readonly number[] = []
  private readonly findIndex: (view: View) => PageIndex
  private pointed: readonly number[] | null = null
  private readonly drawers: { draw(): void; light?(): void }[] = []

  /** @param findIndex finds what a view shows: always the same for a plan */
  constructor(findIndex: (view: View) => PageIndex) {
    this.findIndex = findIndex
    this.view = parseHash(location.hash)
    this.index = findIndex(this.view)
    this.matchView()
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

  /** Lists the positions of the changes that pass the filters of a view. */
  match(view: View): number[] {
    return matchChanges(this.index, view)
  }

  /** Removes all filters and the selection. */
  clear(): void {
    this.change(emptyView)
  }

  /** Lights up the writes that the reader points at; null for none. */
  point(writes: readonly number[] | null): void {
    this.pointed = writes
    this.light()
  }

  private setView(view = parseHash(location.hash)): void {
    this.view = view
    this.pointed = null
    this.matchView()
    for (const drawer of this.drawers) drawer.draw()
    this.light()
  }

  private matchView(): void {
    this.index = this.findIndex(this.view)
    this.matches = this.match(this.view)
    this.lit = listLitWrites(this.index, this.view)
  }

  private light(): void {
    this.lit = this.pointed ?? listLitWrites(this.index, this.view)
    for (const drawer of this.drawers) drawer.light?.()
  }
}
