import { addNamesakes } from '../catalog/wire-names.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { narrowSnapshot, selectsAny, type Selection } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { refuseUnknownItems } from './refuse-unknown-items.ts'

/** Selection of domains and items; an omitted list selects all. */
export interface SelectionRequest {
  /** Globs over domain names. */
  target?: string[]
  items?: ItemKey[]
}

/**
 * Returns the selection of a request.
 *
 * @throws EdgewiseError `usage` when an item does not exist, or no domain is selected
 */
export function select(
  { target = [], items = [] }: SelectionRequest,
  workspace: LoadedWorkspace,
  recorded: RecordedState,
): Selection {
  refuseUnknownItems(items)
  const { itemKeys } = workspace.config.service
  const selection = { target, items: addNamesakes(items, itemKeys) }
  if (!selectsAny(workspace.desired, selection) && !selectsAny(recorded, selection)) {
    throw new EdgewiseError(
      'usage',
      `no domain matches ${target.map((glob) => `"${glob}"`).join(', ')}`,
      'Globs match whole domain names, e.g. --target "*.example.com".',
    )
  }
  return selection
}

/**
 * Returns the selection of a request of which every part selects something.
 *
 * @throws EdgewiseError `usage` when an item does not exist, a glob matches no managed domain, or no
 * selected domain has an item
 */
export function selectEach(
  { target = [], items = [] }: SelectionRequest,
  { desired, config }: Pick<LoadedWorkspace, 'desired' | 'config'>,
  recorded: RecordedState,
): Selection {
  refuseUnknownItems(items)
  const managed: ReadonlyMap<Domain, ReadonlyMap<ItemKey, unknown>>[] = [desired, recorded]
  const narrow = (globs: string[]) =>
    managed.flatMap((domains) => [
      ...narrowSnapshot(domains, { target: globs, items: [] }).values(),
    ])
  const idleGlobs = target.filter((glob) => narrow([glob]).length === 0)
  if (idleGlobs.length > 0)
    throw new EdgewiseError(
      'usage',
      `no managed domain matches ${idleGlobs.map((glob) => `"${glob}"`).join(', ')}`,
      'Globs match whole domain names, e.g. --target "*.example.com".',
    )
  const selected = narrow(target)
  const idleItems = items.filter((item) => !selected.some((states) => states.has(item)))
  if (idleItems.length > 0)
    throw new EdgewiseError(
      'usage',
      `no selected domain has the item ${idleItems.map((item) => `"${item}"`).join(', ')}`,
      'Select items that a manifest or state has; "edgewise drift" without --item checks all.',
    )
  return { target, items: addNamesakes(items, config.service.itemKeys) }
}
