import type { ItemKey } from '../model/item.ts'
import { catalogue } from './catalogue.ts'
import { didYouMean } from './value/nearest.ts'

/** Names of items on the wire, where they differ: `service.itemKeys`. */
export type ItemKeys = Readonly<Record<ItemKey, string>>

/** A problem of a configured wire name, at the item or at its name. */
export interface WireNameProblem {
  item: ItemKey
  part: 'item' | 'name'
  detail: string
}

/** Other keys of a call than items. */
const callKeys = new Set(['token', 'domains', 'config'])
const builtInNames = new Set(['prototype', ...Object.getOwnPropertyNames(Object.prototype)])

/** Finds unknown items, and names that are reserved, used twice or not writable. */
export function findWireNameProblems(itemKeys: ItemKeys): WireNameProblem[] {
  const itemByName = new Map<string, ItemKey>()
  return Object.entries(itemKeys).flatMap(([item, name]): WireNameProblem[] => {
    const other = itemByName.get(name)
    itemByName.set(name, item)
    const nameDetail = explainReserved(name) ?? explainTaken(item, name, other)
    if (nameDetail !== null) return [{ item, part: 'name', detail: nameDetail }]
    const itemDetail = explainUnknown(item)
    return itemDetail === null ? [] : [{ item, part: 'item', detail: itemDetail }]
  })
}

function explainReserved(name: string): string | null {
  if (callKeys.has(name))
    return `the name "${name}" is reserved: a call has other data under it. Use another name.`
  if (builtInNames.has(name))
    return (
      `the name "${name}" is reserved: it is a built-in property of JavaScript objects. ` +
      'Use another name.'
    )
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name))
    return `expected a name of 1 to 64 letters, digits, ".", "_" and "-", got "${name}"`
  return null
}

function explainTaken(item: ItemKey, name: string, other: ItemKey | undefined): string | null {
  if (other !== undefined)
    return `the name "${name}" is already used for "${other}". Give each item its own name.`
  if (name !== item && catalogue.has(name))
    return `"${name}" is the name of another item. Give each item its own name.`
  return null
}

/** Explains that an item does not exist; null if it does. */
export function explainUnknown(item: string): string | null {
  if (catalogue.has(item)) return null
  const hint = didYouMean(item, catalogue.keys()) || ' "edgewise explain" lists all items.'
  return `there is no item "${item}".${hint}`
}
