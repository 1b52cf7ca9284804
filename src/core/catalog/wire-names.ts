import type { ItemKey } from '../model/item.ts'
import { getOwn, isObject, type Json } from '../model/json.ts'
import { catalogue, getItemSpec, unnamedItems } from './catalogue.ts'
import { parseItem } from './parse-item.ts'
import { didYouMean } from './value/nearest.ts'

/** Names of items on the wire, where they differ: `service.itemKeys`. */
export type ItemKeys = Readonly<Record<ItemKey, string>>

/**
 * The only items that may have the same name on the wire. The specification describes both with
 * almost the same fields, and names only one of them.
 */
const namesakes: ReadonlyMap<ItemKey, ItemKey> = new Map([
  ['cache_error_code', 'error_bcache'],
  ['error_bcache', 'cache_error_code'],
])

/** Returns the name of an item on the wire. */
export function getWireName(item: ItemKey, itemKeys: ItemKeys): string {
  return (Object.hasOwn(itemKeys, item) ? itemKeys[item] : undefined) ?? item
}

/** Tests whether nobody knows the name of an item on the wire. */
export function isUnnamed(item: ItemKey, itemKeys: ItemKeys): boolean {
  return unnamedItems.includes(item) && !Object.hasOwn(itemKeys, item)
}

/** Returns the other item with the same name on the wire; undefined if there is none. */
export function findNamesake(item: ItemKey, itemKeys: ItemKeys): ItemKey | undefined {
  const other = namesakes.get(item)
  return other !== undefined && getWireName(item, itemKeys) === getWireName(other, itemKeys)
    ? other
    : undefined
}

/** Adds the namesakes of items: a write of one of them changes both. */
export function addNamesakes(items: ItemKey[], itemKeys: ItemKeys): ItemKey[] {
  return [...new Set(items.flatMap((item) => [item, findNamesake(item, itemKeys) ?? item]))]
}

/** Lists the items that a write of this item empties, its namesake included. */
export function listClearedItems(item: ItemKey, itemKeys: ItemKeys): ItemKey[] {
  const { clearedItems } = getItemSpec(item)
  const namesake = findNamesake(item, itemKeys)
  return namesake === undefined ? clearedItems : [...clearedItems, namesake]
}

/**
 * Returns the item that a name and its payload on the wire mean; undefined for an unknown name. Of
 * two items with this name it is the one whose rules accept the payload. If both do, it is the
 * first likely one, otherwise `error_bcache` for a text as `cache_time`.
 *
 * @param likely items in the order of their likelihood
 */
export function findItemByWireName(
  name: string,
  payload: Json,
  itemKeys: ItemKeys,
  likely: Iterable<ItemKey> = [],
): ItemKey | undefined {
  const own = Object.keys(itemKeys).find((item) => itemKeys[item] === name)
  const item = own ?? (catalogue.has(name) ? name : undefined)
  const namesake = item === undefined ? undefined : findNamesake(item, itemKeys)
  if (item === undefined || namesake === undefined || getWireName(item, itemKeys) !== name)
    return item
  const both = [item, namesake]
  const accepting = both.filter(
    (each) => parseItem(getItemSpec(each), payload, 'wire').value !== null,
  )
  const possible = accepting.length === 0 ? both : accepting
  const known = [...likely].find((each) => possible.includes(each))
  if (known !== undefined) return known
  const hasTextTime = isObject(payload) && typeof getOwn(payload, 'cache_time') === 'string'
  const byShape = hasTextTime ? 'error_bcache' : 'cache_error_code'
  return possible.includes(byShape) ? byShape : possible[0]
}

/** A problem of a configured wire name, at the item or at its name. */
export interface WireNameProblem {
  item: ItemKey
  part: 'item' | 'name'
  detail: string
}

/** Other keys of a call than items. */
const callKeys = new Set(['token', 'domains', 'config'])
const builtInNames = new Set(['prototype', ...Object.getOwnPropertyNames(Object.prototype)])

/**
 * Finds unknown items, and names that are reserved, used twice or not writable.
 *
 * @param written the names as messages show them: without values of the environment
 */
export function findWireNameProblems(
  itemKeys: ItemKeys,
  written: ItemKeys = itemKeys,
): WireNameProblem[] {
  const itemByName = new Map<string, ItemKey>()
  return Object.entries(itemKeys).flatMap(([item, name]): WireNameProblem[] => {
    const other = itemByName.get(name)
    itemByName.set(name, item)
    const nameDetail = explainName(item, other, itemKeys, written[item] ?? name)
    if (nameDetail !== null) return [{ item, part: 'name', detail: nameDetail }]
    const itemDetail = explainUnknown(item)
    return itemDetail === null ? [] : [{ item, part: 'item', detail: itemDetail }]
  })
}

function explainName(
  item: ItemKey,
  other: ItemKey | undefined,
  itemKeys: ItemKeys,
  shown: string,
): string | null {
  const name = getWireName(item, itemKeys)
  if (callKeys.has(name))
    return `the name "${shown}" is reserved: a call has other data under it. Use another name.`
  if (builtInNames.has(name))
    return (
      `the name "${shown}" is reserved: it is a built-in property of JavaScript objects. ` +
      'Use another name.'
    )
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name))
    return `expected a name of 1 to 64 letters, digits, ".", "_" and "-", got "${shown}"`
  const namesake = findNamesake(item, itemKeys)
  if (other !== undefined && other !== namesake)
    return `the name "${shown}" is already used for "${other}". Give each item its own name.`
  const isShared = namesake !== undefined && name === 'cache_error_code'
  if (name !== item && catalogue.has(name) && !isShared)
    return `"${shown}" is the name of another item. Give each item its own name.`
  return null
}

/** Explains that an item does not exist; null if it does. */
export function explainUnknown(item: string): string | null {
  if (catalogue.has(item)) return null
  const hint = didYouMean(item, catalogue.keys()) || ' "edgewise explain" lists all items.'
  return `there is no item "${item}".${hint}`
}
