import {
  isObject,
  getOwn,
  formatPointerStep,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'

/** A part of the upper value that can't be merged; the pointer is within the upper value. */
export interface MergeFault {
  pointer: string
  detail: string
}

/**
 * Merges `above` over `below` (RFC 7396): null removes a field, a mapping is merged, everything
 * else replaces. `{$append: […]}` appends to the list below, and `{$unset: true}` is kept as a
 * value. Neither argument is changed; the result shares unchanged parts with them.
 */
export function mergeOver(below: JsonObject, above: JsonObject, faults: MergeFault[]): JsonObject {
  return mergeMapping(below, above, faults, '')
}

/** Tests whether a value is a mapping to merge, not an instruction such as `$append`. */
export function isPlainMapping(value: Json | undefined): value is JsonObject {
  return isObject(value) && !Object.hasOwn(value, '$append') && !Object.hasOwn(value, '$unset')
}

function mergeMapping(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): JsonObject {
  if (!isPlainMapping(below)) return dropNulls(above, faults, pointer)
  const result: JsonObject = { ...below }
  for (const key of Object.keys(above)) {
    const value = above[key] ?? null
    const next = mergeValue(getOwn(result, key), value, faults, pointer + formatPointerStep(key))
    if (next === undefined) delete result[key]
    else result[key] = next
  }
  return result
}

/** Merges a mapping over nothing: the same mapping unless a part of it changes. */
function dropNulls(above: JsonObject, faults: MergeFault[], pointer: string): JsonObject {
  const fields: [string, Json][] = []
  let isUnchanged = true
  for (const key of Object.keys(above)) {
    const value = above[key] ?? null
    const next = mergeValue(undefined, value, faults, pointer + formatPointerStep(key))
    isUnchanged &&= next === value
    if (next !== undefined) fields.push([key, next])
  }
  return isUnchanged ? above : Object.fromEntries(fields)
}

function mergeValue(
  below: Json | undefined,
  above: Json,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  if (above === null) return undefined
  if (!isObject(above)) return above
  if (Object.hasOwn(above, '$append')) return append(below, above, faults, pointer)
  return isPlainMapping(above) ? mergeMapping(below, above, faults, pointer) : above
}

function append(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  const refuse = (innerPointer: string, detail: string): Json | undefined => {
    faults.push({ pointer: pointer + innerPointer, detail })
    return below
  }
  const extraKey = Object.keys(above).find((key) => key !== '$append')
  if (extraKey !== undefined)
    return refuse(
      formatPointerStep(extraKey),
      `expected "$append" as the only key of its mapping, got "${extraKey}" as well. Remove ` +
        'one of the two.',
    )
  const added = above['$append']
  if (!Array.isArray(added))
    return refuse('/$append', 'expected a list of the entries to add under "$append"')
  if (below === undefined) return added
  if (Array.isArray(below)) return [...below, ...added]
  const kind = isObject(below) ? 'a mapping' : 'a plain value'
  return refuse('/$append', `"$append" adds to a list, but the inherited value is ${kind}`)
}
