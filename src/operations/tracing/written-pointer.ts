import type { ItemState } from '../../core/model/item.ts'
import {
  formatPointerStep,
  isObject,
  isSameJson,
  parsePointer,
  type Json,
} from '../../core/model/json.ts'

/** Converts a pointer into a canonical value to one into the value in the order of the manifest. */
export function toWritten(state: ItemState | undefined, pointer: string): string {
  const value = state?.candidates[0]
  let [canonical, written]: (Json | undefined)[] = [value, state?.ordered ?? value]
  return parsePointer(pointer)
    .map((step) => {
      const next = getPart(canonical, step)
      const isHere = isSameJson(getPart(written, step), next)
      const index =
        isHere || !Array.isArray(written)
          ? -1
          : written.findIndex((entry) => isSameJson(entry, next))
      const key = index < 0 ? step : String(index)
      canonical = next
      written = getPart(written, key)
      return formatPointerStep(key)
    })
    .join('')
}

/** Returns the part of a value at one step of a pointer. */
export function getPart(value: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(step)]
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}
