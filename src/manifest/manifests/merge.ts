import {
  isObject,
  getOwn,
  setOwn,
  toList,
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
 * else replaces. `{$prepend: […], $append: […]}` adds to the list below, and `{$unset: true}` is
 * kept as a value. Neither argument is changed; the result shares unchanged parts with them.
 */
export function mergeOver(below: JsonObject, above: JsonObject, faults: MergeFault[]): JsonObject {
  return mergeMapping(below, above, faults, '')
}

/** Tests whether a value adds entries to a list. */
export function isAddition(value: Json | undefined): value is JsonObject {
  return isObject(value) && (Object.hasOwn(value, '$append') || Object.hasOwn(value, '$prepend'))
}

/** Tests whether a value is a mapping to merge, not an instruction such as `$append`. */
export function isPlainMapping(value: Json | undefined): value is JsonObject {
  return isObject(value) && !isAddition(value) && !Object.hasOwn(value, '$unset')
}

/** Merges mappings; over nothing, the same mapping unless a part of it changes. */
function mergeMapping(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): JsonObject {
  const result: JsonObject = isPlainMapping(below) ? { ...below } : {}
  let isUnchanged = !isPlainMapping(below)
  for (const [key, value] of Object.entries(above)) {
    const next = mergeValue(getOwn(result, key), value, faults, pointer + formatPointerStep(key))
    isUnchanged &&= next === value
    if (next === undefined) delete result[key]
    else setOwn(result, key, next)
  }
  return isUnchanged ? above : result
}

function mergeValue(
  below: Json | undefined,
  above: Json,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  if (above === null) return undefined
  if (isAddition(above)) return addEntries(below, above, faults, pointer)
  return isPlainMapping(above) ? mergeMapping(below, above, faults, pointer) : above
}

function addEntries(
  below: Json | undefined,
  above: JsonObject,
  faults: MergeFault[],
  pointer: string,
): Json | undefined {
  const refuse = (key: string, detail: string): Json | undefined => {
    faults.push({ pointer: pointer + formatPointerStep(key), detail })
    return below
  }
  const known: Record<string, Json[]> = { $prepend: [], $append: [] }
  for (const [key, added] of Object.entries(above)) {
    if (!Object.hasOwn(known, key))
      return refuse(key, `expected only "$prepend" and "$append" in their mapping, got "${key}"`)
    if (!Array.isArray(added))
      return refuse(key, `expected a list of the entries to add under "${key}"`)
    known[key] = added
    if (below === undefined || Array.isArray(below)) continue
    const kind = isObject(below) ? 'a mapping' : 'a plain value'
    return refuse(key, `"${key}" adds to a list, but the inherited value is ${kind}`)
  }
  const { $prepend = [], $append = [] } = known
  return [...$prepend, ...toList(below), ...$append]
}
