import { markAsked, quoteAsked } from '../../core/model/text/text-makers.ts'
import type { Configured, Desired } from '../runtime/parts.ts'
import { addNamesakes } from '../../core/catalog/wire-names.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import { globAdvice, findUnmatched, type Selection } from '../../core/plan/selection.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'

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
  workspace: Configured & Desired,
  recorded: RecordedState,
): Selection {
  refuseUnknownItems(items)
  const unmatched = findUnmatched([workspace.desired, recorded], { target, items })
  const missing = unmatched.target.filter((name) => !released.includes(name))
  if (missing.length > 0) {
    throw new EdgewiseError('usage', `no managed domain matches ${quoteAll(missing)}`, globAdvice)
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

/** Quotes names of who asks, separated by commas. */
export function quoteAll(names: string[]): string {
  return names.map((name) => quoteAsked(markAsked(name))).join(', ')
}

/**
 * Rejects unknown names of items.
 *
 * @throws EdgewiseError `usage`, with the closest known name
 */
export function refuseUnknownItems(items: string[]): void {
  const unknown = items.find((item) => !catalogue.has(item))
  if (unknown === undefined) return
  throw new EdgewiseError(
    'usage',
    `there is no item ${quoteAll([unknown])}.${didYouMean(unknown, catalogue.keys())}`,
    '"edgewise explain" lists all items.',
  )
}
