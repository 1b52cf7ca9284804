import type { PageApply } from '../model/page-history.ts'
import type { Page, PageChange } from '../model/page.ts'
import type { View } from './filter.ts'
import { indexPage, type PageIndex } from './index-page.ts'

/** A history with what its view looks up. */
export interface HistoryIndex {
  page: Page
  applies: PageApply[]
  /** Names of the domains, in lower case. */
  names: string[]
}

/** Indexes the page of a history. */
export function indexHistory(page: Page): HistoryIndex {
  const names = page.domains.map((name) => name.toLowerCase())
  return { page, applies: page.applies ?? [], names }
}

/** Lists the positions of the applies that pass the filters of a view, in the order of the page. */
export function matchApplies({ page, applies, names }: HistoryIndex, view: View): number[] {
  const text = view.domain.trim().toLowerCase()
  const isNamed = names.map((name) => name.includes(text))
  const filtersChanges = isByChange(view)
  const hasChange = ({ changes }: PageApply) =>
    (changes ?? []).some(
      ({ part, domains }) =>
        (view.item === '' || page.items[page.parts[part]?.item ?? -1] === view.item) &&
        domains.some((domain) => isNamed[domain] === true),
    )
  return applies.flatMap((apply, position) =>
    (view.author === '' || apply.author === view.author) &&
    (view.outcome === '' || apply.outcome === view.outcome) &&
    (!filtersChanges || hasChange(apply))
      ? [position]
      : [],
  )
}

/** Reports whether a view filters by what applies changed, which not all of them have. */
export function isByChange({ domain, item }: View): boolean {
  return domain.trim() !== '' || item !== ''
}

/** Finds the chosen apply, by its id or that of its rollout; else the first that passes. */
export function findApply({ applies }: HistoryIndex, view: View, matches: number[]): number | null {
  const chosen = applies.findIndex(({ id }) => id === view.apply)
  if (chosen >= 0) return chosen
  const wave = applies.findIndex(({ rollout }) => rollout !== null && rollout.id === view.apply)
  return wave >= 0 ? wave : (matches[0] ?? null)
}

/** Builds the index of what one apply changed; null for no apply. */
export function indexApply({ page, applies }: HistoryIndex, position: number | null): PageIndex {
  const changes = (applies[position ?? -1]?.changes ?? []).flatMap(({ part, state, domains }) =>
    domains.map((domain): PageChange => ({ domain, part, writes: [], place: null, state })),
  )
  return indexPage({ ...page, changes: changes.toSorted((a, b) => a.domain - b.domain) })
}
