import type { ItemKey, Value } from '../model/item.ts'
import { isObject, resolvePointer, type Json } from '../model/json.ts'
import type { Secret } from '../model/secret.ts'
import { Unknown, type Answer } from './answer.ts'
import { readPlain } from './secret-text.ts'

/** Items of a domain with their candidates; null is unset. An item without a key is unmanaged. */
export type Candidates = ReadonlyMap<ItemKey, readonly Candidate[]>
export type Candidate = Value | UnknownValue

/** Any value; `secrets`: those that stand in it where no text does. */
export type UnknownValue = { $unknown: true; secrets?: Secret[]; value?: Value }

/** Tests whether a candidate is any value. */
export function isUnknownValue(value: Candidate): value is UnknownValue {
  return isObject(value) && value['$unknown'] === true
}

/** Says why the value of an item is unknown. */
export function explainUnknown(key: ItemKey, { secrets }: UnknownValue): Unknown {
  const plain = readPlain<unknown>(secrets)
  return plain instanceof Unknown ? plain : Unknown.of(`in-doubt ${key}`)
}

/** Reads a candidate; an empty list is no value, nor is an empty extension. */
export function readCandidate(key: ItemKey, value: Candidate): Answer<Value> {
  if (isUnknownValue(value)) return explainUnknown(key, value)
  if (Array.isArray(value)) return value.length === 0 ? null : value
  if (!isObject(value)) return value
  const { list } = value
  const isAddresses = Object.keys(value).every((name) => name === 'list' || name === 'mode')
  if (Array.isArray(list) && list.length === 0 && isAddresses) return null
  return value['squid'] === '' ? null : value
}

/** Reads the value of a rule; null if its item has not exactly one candidate. */
export function readRule(
  items: Candidates,
  { item, pointer }: { item: ItemKey; pointer: string },
): Json {
  const candidates = items.get(item)
  const [value] = candidates ?? []
  if (candidates?.length !== 1 || value === undefined) return null
  return resolvePointer(value, pointer) ?? null
}
