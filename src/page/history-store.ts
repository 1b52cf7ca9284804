import { findApply, indexApply, matchApplies, type HistoryIndex } from './history-index.ts'
import type { View } from './filter.ts'
import type { PageIndex } from './index-page.ts'

/** Finds, for each view, the applies that pass its filters, and the chosen one. */
export class HistoryChoice {
  readonly history: HistoryIndex
  /** Positions of the applies that pass the filters. */
  matches: number[] = []
  /** Position of the chosen apply; null for none. */
  chosen: number | null = null
  private index: PageIndex | null = null

  constructor(history: HistoryIndex) {
    this.history = history
  }

  /** Chooses by a view, and returns the index of what the chosen apply changed. */
  choose(view: View): PageIndex {
    this.matches = matchApplies(this.history, view)
    const chosen = findApply(this.history, view, this.matches)
    if (this.index === null || chosen !== this.chosen) this.index = indexApply(this.history, chosen)
    this.chosen = chosen
    return this.index
  }
}
