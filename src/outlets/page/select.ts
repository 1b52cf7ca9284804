import type { PageApply } from '../../core/model/page/page.ts'
import { findCell, getChange, indexCells, type FullChange, type PageIndex } from './index-page.ts'
import type { View } from './view.ts'

/** The part of a page that a view shows. */
export interface Selection {
  /** Positions of the changes that pass the filters. */
  matches: number[]
  /** Positions of the writes, or of the applies of a history, that pass the filters. */
  entries: number[]
  /** Position of the chosen one; null for none. A history always shows one. */
  chosen: number | null
  /** Position of the change of each cell. */
  cells: Map<number, number>
  /** Position of the selected change; null for none. */
  selected: number | null
  /** Positions of the writes that are lit: those of the selected change, or the chosen one. */
  lit: readonly number[]
}

/** Selects what a view shows; positions are in the order of the page. */
export function select(index: PageIndex, view: View): Selection {
  const { page } = index
  const found = matchChanges(index, view)
  const entries = listEntries(index, view, found)
  const chosen = findChosen(index, view, entries)
  const isHistory = page.applies !== undefined
  const matches =
    isHistory || view.write !== ''
      ? found.filter((position) => page.changes[position]?.writes.includes(chosen ?? -1))
      : found
  const cells = isHistory ? indexCells(page, matches) : index.changeByCell
  const selected = cells.get(findCell(index, view) ?? -1) ?? null
  const writes = getChange(index, selected)?.writes ?? []
  const lit = chosen === null || writes.includes(chosen) ? writes : [chosen]
  return { matches, entries, chosen, cells, selected, lit }
}

function matchChanges(index: PageIndex, view: View): number[] {
  const found: number[] = []
  for (let position = 0; position < index.page.changes.length; position++) {
    const change = getChange(index, position)
    if (change !== null && isMatch(index, view, change)) found.push(position)
  }
  return found
}

function isMatch({ page, names }: PageIndex, view: View, change: FullChange): boolean {
  const { what, writes } = change
  return (
    (view.item === '' || page.items[what.item] === view.item) &&
    (view.action === '' || what.action === view.action) &&
    (view.kind === '' || what.kinds?.includes(view.kind) === true) &&
    (view.wave === '' || writes.some((write) => page.writes[write]?.wave === Number(view.wave))) &&
    (view.domain === '' || (names[change.domain] ?? '').includes(view.domain.trim().toLowerCase()))
  )
}

function listEntries({ page }: PageIndex, view: View, found: number[]): number[] {
  const writes = new Set(found.flatMap((position) => page.changes[position]?.writes ?? []))
  if (page.applies === undefined) return [...writes].toSorted((a, b) => a - b)
  const passes = ({ outcome, author }: PageApply, position: number) =>
    (view.author === '' || author === view.author) &&
    (view.outcome === '' || outcome === view.outcome) &&
    (!isByChange(view) || writes.has(position))
  return page.applies.flatMap((apply, position) => (passes(apply, position) ? [position] : []))
}

/** Reports whether a view filters by what applies changed, which not all of them have. */
export function isByChange({ domain, item }: View): boolean {
  return domain.trim() !== '' || item !== ''
}

/** Finds the chosen write, or the apply with an id or that of its rollout, else the first one. */
function findChosen({ page }: PageIndex, view: View, entries: number[]): number | null {
  const { applies, writes } = page
  if (applies === undefined) {
    const chosen = writes.findIndex(({ id }) => String(id) === view.write)
    return chosen < 0 ? null : chosen
  }
  const chosen = applies.findIndex(({ id }) => id === view.apply)
  const wave = applies.findIndex(({ rollout }) => rollout !== null && rollout.id === view.apply)
  return [chosen, wave].find((position) => position >= 0) ?? entries[0] ?? null
}
