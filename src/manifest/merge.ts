import { isObject, getOwn, formatPointerStep, type Json, type JsonObject } from '../model/json.ts'

/**
 * Something in the upper value that can't be laid over the lower one; the pointer is within the
 * upper value.
 */
export interface MergeFault {
  pointer: string
  detail: string
}

/**
 * `above` laid over `below` (RFC 7396): null takes a field out, a mapping is merged, everything
 * else replaces. `{$append: […]}` adds to the list below, and `{$unset: true}` is taken as it
 * stands. Neither argument is changed; parts that stay the same are shared with the result.
 */
export function mergeOver(below: JsonObject, above: JsonObject, faults: MergeFault[]): JsonObject {
  return merged(below, above, faults, '')
}

/** True for a mapping whose fields are merged: not an instruction such as `$append`. */
export function isPlainMapping(value: Json | undefined): value is JsonObject {
  return isObject(value) && !Object.hasOwn(value, '$append') && !Object.hasOwn(value, '$unset')
}

function merged(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): JsonObject {
  const result: JsonObject = isPlainMapping(below) ? { ...below } : {}
  for (const [key, value] of Object.entries(above)) {
    const next = laidOver(getOwn(result, key), value, faults, pointer + formatPointerStep(key))
    if (next === undefined) delete result[key]
    else result[key] = next
  }
  return result
}

function laidOver(
  below: Json | undefined,
  above: Json,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  if (above === null) return undefined
  if (!isObject(above)) return above
  if (Object.hasOwn(above, '$append')) return appended(below, above, faults, pointer)
  return isPlainMapping(above) ? merged(below, above, faults, pointer) : above
}

function appended(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  const refuse = (at: string, detail: string): Json | undefined => {
    faults.push({ pointer: pointer + at, detail })
    return below
  }
  const beside = Object.keys(above).find((key) => key !== '$append')
  if (beside !== undefined)
    return refuse(
      formatPointerStep(beside),
      `"$append" stands alone in its mapping, and "${beside}" is beside it`,
    )
  const added = above['$append']
  if (!Array.isArray(added))
    return refuse('/$append', '"$append" takes a list of the entries to add')
  if (below === undefined) return added
  if (!Array.isArray(below))
    return refuse(
      '/$append',
      `"$append" adds to a list, and what lies below is ${isObject(below) ? 'a mapping' : 'a plain value'}`,
    )
  return [...below, ...added]
}
