/** What JSON can hold; the only kind of data that manifests, records and the service exchange. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/** True for a plain JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own property of an object, never one of its prototype (`constructor` and the like). */
export function getOwn(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Returns the fields of an object that have a value, in their order. */
export function pickDefined(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value] as const],
    ),
  )
}

/** One step of a JSON pointer (RFC 6901), escaped. */
export function formatPointerStep(key: string | number): string {
  return '/' + String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The steps of a JSON pointer, unescaped; `''` has none. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What stands at a JSON pointer, or undefined where nothing does. */
export function resolvePointer(value: Json | undefined, pointer: string): Json | undefined {
  let at = value
  for (const step of parsePointer(pointer)) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isObject(at)) at = getOwn(at, step)
    else return undefined
  }
  return at
}

/** The JSON value of a text, or undefined when it is none. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
