import type { Json } from '../model/json.ts'

/**
 * Returns a value with the type that is made from its item's schema. A check is called only with
 * values that the schema has accepted.
 */
export function castAccepted<Given>(value: Json): Given {
  return value as unknown as Given
}
