import type { FieldName, Value } from '../model/item.ts'
import { formatPointerStep, getOwn, isObject, type Json, type JsonObject } from '../model/json.ts'

/** An observed payload, converted to the shape in which it is written. */
export interface Observation {
  payload: Json
  /** JSON pointers of fields that the service never shows; they have their known values. */
  notVerifiable?: string[]
}

/** Converts each entry of an observed list; entries that are not objects stay as they are. */
export function observeEntries(
  observed: Json,
  convert: (entry: JsonObject, index: number) => Observation,
): Observation {
  if (!Array.isArray(observed)) return { payload: observed }
  const entries: Observation[] = observed.map((entry, i) =>
    isObject(entry) ? convert(entry, i) : { payload: entry },
  )
  return {
    payload: entries.map(({ payload }) => payload),
    notVerifiable: entries.flatMap(({ notVerifiable = [] }, i) =>
      notVerifiable.map((pointer) => formatPointerStep(i) + pointer),
    ),
  }
}

/** Fills fields that the service never shows with their known values. */
export function fillHidden(
  known: Value | undefined,
  observed: JsonObject,
  fields: FieldName[],
): Observation {
  const hidden = fields.flatMap((field): [string, Json][] => {
    const value = known !== undefined && isObject(known) ? getOwn(known, field) : undefined
    return value === undefined || Object.hasOwn(observed, field) ? [] : [[field, value]]
  })
  return {
    payload: hidden.length === 0 ? observed : { ...observed, ...Object.fromEntries(hidden) },
    notVerifiable: hidden.map(([field]) => formatPointerStep(field)),
  }
}

/**
 * Finds the entry of a known list that an observed entry stands for: it is equal in these fields,
 * and preferably at the same place.
 */
export function findKnownEntry(
  known: Json | undefined,
  entry: JsonObject,
  index: number,
  fields: FieldName[],
): JsonObject | undefined {
  if (!Array.isArray(known)) return undefined
  const isSame = (other: Json | undefined): other is JsonObject =>
    isObject(other) && fields.every((field) => getOwn(other, field) === getOwn(entry, field))
  const [here] = known.slice(index, index + 1)
  return isSame(here) ? here : known.find(isSame)
}

/** Returns an object without some fields. */
export function omitFields(value: JsonObject, fields: FieldName[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)))
}

/** Writes the units in these fields in capitals. */
export function raiseUnits(observed: Json, fields: FieldName[]): Observation {
  if (!isObject(observed)) return { payload: observed }
  const units = fields.flatMap((field): [string, Json][] => {
    const unit = getOwn(observed, field)
    return typeof unit === 'string' ? [[field, unit.toUpperCase()]] : []
  })
  return { payload: { ...observed, ...Object.fromEntries(units) } }
}
