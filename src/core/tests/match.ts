import { getItemSpec } from '../catalog/catalogue.ts'
import { parseItem } from '../catalog/parse-item.ts'
import type { ItemKey, ItemState } from '../model/item.ts'
import { getOwn, isObject, isSameJson, resolvePointer, type Json } from '../model/json.ts'
import { findReference, listSecretNames, mapSecrets } from '../model/secret.ts'
import type { Reply } from '../trace/reply.ts'
import type { ItemCheck } from './test-case.ts'

/**
 * Tests whether an answer is as expected. An unknown one is so only if the test expects
 * `{unknown: true}`, or `{either: […]}`, which lists what it may be.
 */
export function isAsExpected(expected: Json, reply: Reply): boolean {
  const { unknown, either }: Record<string, Json | undefined> = isObject(expected) ? expected : {}
  if (unknown !== undefined) return 'unknown' in reply
  if (!Array.isArray(either)) return 'value' in reply && matchesValue(expected, reply.value)
  return !('value' in reply) || either.some((each) => matchesValue(each, reply.value))
}

/**
 * Compares an expected value with an actual one. A number may be written as text, a list of one
 * entry as that entry, a comma list as a list, and a target by its address; a mapping needs only
 * the fields that it names, and an empty one has none.
 *
 * @param absent what a field counts as that is not there; by default it is not as expected
 */
export function matchesValue(expected: Json, actual: Json, absent?: null): boolean {
  const match = (each: Json, value: Json) => matchesValue(each, value, absent)
  if (Array.isArray(expected)) {
    const list = typeof actual === 'string' ? actual.split(',').filter(Boolean) : actual
    const isList = Array.isArray(list) && list.length === expected.length
    return isList && expected.every((each, i) => match(each, list[i] ?? null))
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = Object.keys(expected)
    if (keys.length === 0) return Object.keys(actual).length === 0
    return keys.every((key) => {
      const own = getOwn(actual, key)
      const value = own === undefined ? absent : own
      return value !== undefined && match(expected[key] ?? null, value)
    })
  }
  if (isObject(expected) || expected === null || actual === null) return expected === actual
  if (Array.isArray(actual)) return actual.length === 1 && match(expected, actual[0] ?? null)
  if (isObject(actual)) return match(expected, getOwn(actual, 'address') ?? null)
  return String(expected) === String(actual)
}

/** Reads what a configuration has at a part of an item; null if nothing is set there. */
export function readPart(
  items: ReadonlyMap<ItemKey, ItemState>,
  item: ItemKey,
  part: string,
): Json {
  const state = items.get(item)
  const value = state?.status === 'confirmed' ? (state.ordered ?? state.candidates[0]) : undefined
  return mapSecrets(resolvePointer(value, part) ?? null, (secret) => {
    const reference = findReference(secret) ?? '(a value)'
    return listSecretNames(reference).length > 0 ? reference : `\${secret:${reference}}`
  })
}

/** Tests whether a part of an item is as expected; a whole item may be written as in a manifest. */
export function isItemAsExpected({ item, part, expected }: ItemCheck, actual: Json): boolean {
  if (matchesValue(expected, actual, null)) return true
  if (part !== '' || actual === null || expected === null) return false
  const read = (value: Json) => parseItem(getItemSpec(item), value, 'manifest').value
  return isSameJson(read(expected) ?? undefined, read(actual) ?? null)
}
