import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey } from '../model/item.ts'
import { selectsAny, type Selection } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { refuseUnknownItems } from './refuse-unknown-items.ts'

/** A part of the domains and items. What is left out chooses all. */
export interface SelectionRequest {
  /** Globs over domain names. */
  target?: string[]
  items?: ItemKey[]
}

/**
 * Returns what a request chooses.
 *
 * @throws EdgewiseError `usage` when an item does not exist, or no domain is chosen
 */
export function select(
  { target = [], items = [] }: SelectionRequest,
  workspace: LoadedWorkspace,
  recorded: RecordedState,
): Selection {
  refuseUnknownItems(items)
  const selection = { target, items }
  if (!selectsAny(workspace.desired, selection) && !selectsAny(recorded, selection)) {
    throw new EdgewiseError(
      'usage',
      `no domain matches ${target.map((glob) => `"${glob}"`).join(', ')}`,
      'Globs match whole domain names, e.g. --target "*.example.com".',
    )
  }
  return selection
}
