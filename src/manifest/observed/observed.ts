import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { findItemByWireName, listClearedItems } from '../../core/catalog/wire-names.ts'
import { isAcceleratedDomain, suggestName } from '../../core/catalog/value/formats.ts'
import { append } from '../../core/model/lists.ts'
import type { Observed, ObservedItem } from '../../core/model/drift.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isUnset, unsetState, type Domain, type ItemKey } from '../../core/model/item.ts'
import { isSameJson, type Json } from '../../core/model/json.ts'
import { extractConfigs } from './extract-configs.ts'
import { parseObservedItem, type KnownItems } from './observed-item.ts'

/** An observed item by its names, of which the item's is as the service has it. */
export interface ObservedName {
  domain: Domain
  item: string
}

/**
 * Parses an observed configuration, and keeps the managed items. A
 * missing item was not observed; null or an empty list means that the item is not set. A secret
 * field that is missing or masked (`***`) is assumed as recorded, and so is a missing field that
 * the service keeps. A value that the catalogue refuses, or that is an action, is unreadable: it
 * was observed, but can't be compared.
 *
 * @returns the observed items, a note about those that are not managed, and their names
 * @throws EdgewiseError `not-observed` if the data has another shape
 */
export function parseObserved(
  data: Json,
  known: KnownItems,
): { observed: Observed; notes: string[]; unmanaged: ObservedName[] } {
  const observed = new Map<Domain, Map<ItemKey, ObservedItem>>()
  const unmanaged: ObservedName[] = []
  const hide = (text: string) => known.vault.hideIn(text, known.maker)
  for (const [domain, config] of mergeObserved(data, hide)) {
    const seen = new Map<ItemKey, ObservedItem>()
    const cleared: ItemKey[] = []
    for (const [wireName, payload] of config) {
      const likely = listManaged(domain, known)
      const item = findItemByWireName(wireName, payload, known.itemKeys, likely) ?? wireName
      if (seen.has(item)) throw createShapeError(`the item "${item}" of "${domain}" occurs twice`)
      const managed = isManaged(domain, item, known)
      const observedItem = managed
        ? parseObservedItem(domain, getItemSpec(item), payload, known)
        : null
      if (observedItem === null) unmanaged.push({ domain, item })
      else seen.set(item, observedItem)
      append(cleared, listCleared(item, payload, observedItem, known))
    }
    for (const item of cleared) {
      if (!seen.has(item) && isManaged(domain, item, known))
        seen.set(item, { state: unsetState, notVerifiable: [] })
    }
    observed.set(domain, seen)
  }
  const foreign = unmanaged.length
  const verbs = foreign === 1 ? ['item is', 'was'] : ['items are', 'were']
  const note = `${foreign} observed ${verbs[0]} not managed here and ${verbs[1]} ignored.`
  return { observed, notes: foreign === 0 ? [] : [note], unmanaged }
}

/**
 * Merges what an observation has of each domain, by wire names: in any form of `extractConfigs`.
 * Several answers may have the same domain, but not two values of an item.
 *
 * @param hide removes secrets from a text
 * @throws EdgewiseError `not-observed` if the data has another shape
 */
export function mergeObserved(
  data: Json,
  hide: (text: string) => string,
): Map<Domain, Map<string, Json>> {
  const quote = (text: string) => JSON.stringify(hide(text).slice(0, 80))
  const merged = new Map<Domain, Map<string, Json>>()
  const refuse = (pointer: string, detail: string) => {
    throw createShapeError(pointer === '' ? detail : `${detail} at ${quote(pointer)}`)
  }
  for (const { domain: name, config } of extractConfigs(data, null, refuse)) {
    const domain = name.toLowerCase()
    if (!isAcceleratedDomain(domain))
      throw createShapeError(
        `expected domain names, got ${quote(name)}${suggestName(hide(name).slice(0, 80))}`,
      )
    const items = merged.get(domain) ?? new Map<string, Json>()
    merged.set(domain, items)
    for (const [item, payload] of Object.entries(config)) {
      if (payload === undefined) continue
      if (!isSameJson(items.get(item) ?? payload, payload))
        throw createShapeError(`the item ${quote(item)} of "${domain}" has two values`)
      items.set(item, payload)
    }
  }
  return merged
}

function createShapeError(reason: string): EdgewiseError {
  return new EdgewiseError(
    'not-observed',
    `the observed configuration can't be used: ${reason}`,
    'Expected {"<domain>": {"<item>": payload}} as JSON, answers or bodies of requests.',
  )
}

/** Lists the managed items of a domain, recorded ones first. */
function listManaged(domain: Domain, { recorded, desired }: KnownItems): ItemKey[] {
  return [...(recorded.get(domain)?.keys() ?? []), ...(desired.get(domain)?.keys() ?? [])]
}

function isManaged(domain: Domain, item: ItemKey, { recorded, desired }: KnownItems): boolean {
  return (
    catalogue.has(item) &&
    (recorded.get(domain)?.has(item) === true || desired.get(domain)?.has(item) === true)
  )
}

/** Lists the items that this observed item empties. */
function listCleared(
  item: ItemKey,
  payload: Json,
  // Null if the item is not managed.
  observedItem: ObservedItem | null,
  { itemKeys }: KnownItems,
): ItemKey[] {
  const spec = catalogue.get(item)
  const clearedItems = spec === undefined ? [] : listClearedItems(item, itemKeys)
  if (spec === undefined || clearedItems.length === 0) return []
  const isSet =
    observedItem === null
      ? !isUnset(parseItem(spec, payload, 'manifest').value)
      : observedItem.state.status === 'confirmed'
  return isSet ? clearedItems : []
}
