import type { Json } from '../model/json.ts'

/**
 * Casts a value to the type generated from its item's schema. Checks are called only with values
 * that the schema has accepted.
 */
export function castAccepted<Given>(value: Json): Given {
  return value as unknown as Given
}
