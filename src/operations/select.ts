import { addNamesakes } from '../catalog/wire-names.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { findUnmatched, type Selection } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { refuseUnknownItems } from './refuse-unknown-items.ts'

/** Selection of domains and items; an omitted list selects all. */
export interface SelectionRequest {
  /** Globs over domain names. */
  target?: string[]
  items?: ItemKey[]
  /** Domains of `target` that a rollout has released: they may match nothing any more. */
  released?: Domain[]
}

/**
 * Returns the selection of a request.
 *
 * @throws EdgewiseError `usage` when an item does not exist, or a glob or an item selects nothing
 */
export function select(
  { target = [], items = [], released = [] }: SelectionRequest,
  workspace: LoadedWorkspace,
  recorded: RecordedState,
): Selection {
  refuseUnknownItems(items)
  const unmatched = findUnmatched([workspace.desired, recorded], { target, items })
  const missing = unmatched.target.filter((name) => !released.includes(name))
  if (missing.length > 0) {
    throw new EdgewiseError(
      'usage',
      `no managed domain matches ${quoteAll(missing)}`,
      'Globs match whole domain names, e.g. --target "*.example.com".',
    )
  }
  if (unmatched.items.length > 0) {
    throw new EdgewiseError(
      'usage',
      `no selected domain has the ${nameItems(unmatched.items)}`,
      'An item is selected if a manifest or state of a selected domain has it.',
    )
  }
  return { target, items: addNamesakes(items, workspace.config.service.itemKeys) }
}

/** Formats `item "a"` or `items "a", "b"`. */
export function nameItems(items: ItemKey[]): string {
  return `${items.length === 1 ? 'item' : 'items'} ${quoteAll(items)}`
}

/** Formats names with quotes, separated by commas. */
export function quoteAll(names: string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
