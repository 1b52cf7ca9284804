import type { FieldName, Value } from '../model/item.ts'
import {
  formatPointerStep,
  getOwn,
  isObject,
  parsePointer,
  resolvePointer,
  type Json,
  toList,
} from '../model/json.ts'
import {
  chooseAlternative,
  findFieldSchema,
  getAnnotations,
  hasAnnotation,
  type ItemSchema,
} from './value/item-schema.ts'

/** What is known of an item's fields; `ItemSpec`. */
interface Fields {
  schema: ItemSchema
  hidesFields: boolean
  identity: FieldName[]
  keptFields: FieldName[]
}

/**
 * Lists the hidden fields that a value leaves out: a query never shows them, and a write without
 * them resets them. Returns JSON pointers, in the order of the value.
 */
export function listOmittedHidden({ hidesFields, schema }: Fields, value: Json): string[] {
  return hidesFields ? collectOmitted(schema, value, '') : []
}

/** Tests whether a schema has a hidden field at any depth. */
export function hasHiddenField(schema: ItemSchema): boolean {
  return hasAnnotation(schema, ({ hidden }) => hidden === true)
}

function collectOmitted(schema: ItemSchema, value: Json, pointer: string): string[] {
  const { items = {}, properties = {} } = chooseAlternative(schema, value)
  if (Array.isArray(value))
    return value.flatMap((entry, i) => collectOmitted(items, entry, `${pointer}/${i}`))
  if (!isObject(value)) return []
  return Object.entries(properties).flatMap(([name, field]) => {
    const at = pointer + formatPointerStep(name)
    const inner = getOwn(value, name)
    if (inner !== undefined) return collectOmitted(field, inner, at)
    return getAnnotations(field).hidden === true ? [at] : []
  })
}

/** Returns a value without the fields at these pointers, which may be missing already. */
export function dropFields(value: Value, pointers: readonly string[] = []): Value {
  return pointers.length === 0 ? value : dropBelow(value, new Set(pointers), '')
}

function dropBelow(value: Value, dropped: ReadonlySet<string>, pointer: string): Value {
  if (Array.isArray(value))
    return value.map((entry, i) => dropBelow(entry, dropped, `${pointer}/${i}`))
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, field]): [string, Json][] => {
    const at = pointer + formatPointerStep(name)
    return dropped.has(at) ? [] : [[name, dropBelow(field, dropped, at)]]
  })
  return Object.fromEntries(kept)
}

/**
 * Forgets of a value what others may have changed with the rest of it: the fields that the service
 * did not show. Those that it keeps are left out, hidden ones are unknown.
 *
 * @param notShown JSON pointers
 */
export function forgetHidden(
  { schema, keptFields }: Fields,
  value: Value,
  notShown: readonly string[],
): { value: Value; unknownFields: string[] } {
  const kept = notShown.filter((pointer) => keptFields.includes(pointer.slice(1)))
  return {
    value: dropFields(value, kept),
    unknownFields: notShown.filter((at) => isHiddenField(schema, at)),
  }
}

/** Tests whether a query never shows the field at a JSON pointer. */
export function isHiddenField(schema: ItemSchema, pointer: string): boolean {
  return getAnnotations(findFieldSchema(schema, parsePointer(pointer)) ?? {}).hidden === true
}

/** Lists the names of the fields at these JSON pointers, each once. */
export function nameFields(pointers: readonly string[]): string[] {
  return [...new Set(pointers.map((pointer) => pointer.slice(pointer.lastIndexOf('/') + 1)))]
}

/** A value, and the hidden fields in it that nobody has named, as JSON pointers. */
interface Partly {
  value: Value
  unknown: readonly string[]
}

/**
 * Lists the hidden fields that a write of `after` resets although nobody knows their values: the
 * service may have any, and no manifest names one. Entries of lists are matched by the fields that
 * identify them, else by their place. Returns JSON pointers within `after`.
 */
export function listResets(spec: Fields, before: Partly, after: Partly): string[] {
  if (before.unknown.length === 0) return []
  const wasUnknown = new Set(before.unknown)
  const findEarlier = createMatcher(spec, before.value, after.value, true)
  return after.unknown.filter((pointer) => wasUnknown.has(findEarlier(pointer) ?? ''))
}

/**
 * Lists the hidden fields of a shown value whose values are not recorded either. Entries of lists
 * are the recorded ones only if the fields that identify them are equal.
 *
 * @param recorded null if nothing is recorded
 */
export function listUnknown(spec: Fields, recorded: Partly | null, shown: Value): string[] {
  const omitted = listOmittedHidden(spec, shown)
  if (recorded === null || omitted.length === 0) return omitted
  const wasUnknown = new Set(recorded.unknown)
  const findEarlier = createMatcher(spec, recorded.value, shown, false)
  return omitted.filter((pointer) => {
    const earlier = findEarlier(pointer)
    return earlier === null || wasUnknown.has(earlier)
  })
}

/**
 * Creates a lookup of the field of `before` that became a field of `after`, by JSON pointers; null
 * for a field of a new entry.
 *
 * @param byPlace whether an entry without an equal name is the one at the same place
 */
function createMatcher(
  { identity }: Fields,
  before: Value,
  after: Value,
  byPlace: boolean,
): (pointer: string) => string | null {
  const places = new Map<string, (number | null)[]>()
  return (pointer) => {
    const place = splitEntryPointer(pointer)
    if (place === null) return pointer
    const { list, index, field } = place
    const known = places.get(list)
    const matched = known ?? matchEntries(before, after, list, identity, byPlace)
    if (known === undefined) places.set(list, matched)
    const from = matched[index] ?? null
    return from === null ? null : `${list}/${from}${field}`
  }
}

/** Splits the pointer of a field of an entry; null if no list is on its way. */
function splitEntryPointer(pointer: string): { list: string; index: number; field: string } | null {
  const { 1: list, 2: index, 3: field } = /^((?:\/[^/0-9][^/]*)*)\/(\d+)(\/.*)$/.exec(pointer) ?? []
  return list === undefined || field === undefined ? null : { list, index: Number(index), field }
}

/** Finds for each entry the place of the one that it was before; null if it is new. */
function matchEntries(
  before: Value,
  after: Value,
  list: string,
  identity: readonly string[],
  byPlace: boolean,
): (number | null)[] {
  const [earlier, later] = [before, after].map((value) => nameEntries(value, list, identity))
  const places = new Map((earlier ?? []).map((name, i) => [name, i]))
  const names = new Set(later)
  return (later ?? []).map((name, i) => {
    const here = earlier?.[i]
    if (here === name) return i
    const moved = places.get(name) ?? null
    return moved === null && byPlace && here !== undefined && !names.has(here) ? i : moved
  })
}

/** Names the entries of a list by the fields that identify them. */
function nameEntries(value: Value, list: string, identity: readonly string[]): string[] {
  const entries = resolvePointer(value, list)
  return toList(entries).map((entry) =>
    JSON.stringify(isObject(entry) ? identity.map((field) => getOwn(entry, field) ?? null) : entry),
  )
}
