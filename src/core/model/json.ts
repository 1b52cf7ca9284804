/** Any JSON value; the only kind of data in manifests, state and calls of the service. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/** Reports whether a value is a plain JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns an own property of an object, never one of its prototype (`constructor` and the like).
 */
export function getOwn(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an own property of an object, also one that is called `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

/** Returns the fields of an object that have a value, in their order. */
export function pickDefined(fields: Record<string, Json | undefined>): JsonObject {
  const picked: JsonObject = {}
  for (const [key, value] of Object.entries(fields))
    if (value !== undefined) setOwn(picked, key, value)
  return picked
}

/** Formats one step of a JSON pointer (RFC 6901), escaped. */
export function formatPointerStep(key: string | number): string {
  const step = String(key)
  if (!step.includes('~') && !step.includes('/')) return `/${step}`
  return '/' + step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Copies a value with its entries or fields mapped, each of which has a JSON pointer. */
export function mapParts(
  value: Json,
  pointer: string,
  map: (part: Json, pointer: string) => Json,
): Json {
  if (Array.isArray(value)) return value.map((entry, i) => map(entry, `${pointer}/${i}`))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      map(field, pointer + formatPointerStep(key)),
    ]),
  )
}

/** Parses a JSON pointer into its steps, unescaped; `''` has none. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value at a JSON pointer; undefined if there is none. */
export function resolvePointer(value: Json | undefined, pointer: string): Json | undefined {
  let current = value
  for (const step of parsePointer(pointer)) {
    if (Array.isArray(current)) current = current[Number(step)]
    else if (isObject(current)) current = getOwn(current, step)
    else return undefined
  }
  return current
}

/**
 * Finds a key `__proto__`, which code could take for the prototype of its object. Returns the
 * pointer of that object; null without one.
 */
export function findPrototypeKey(value: Json, pointer = ''): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (Object.hasOwn(value, '__proto__')) return pointer === '' ? '/' : pointer
  for (const [key, part] of Object.entries(value)) {
    const found = findPrototypeKey(part, pointer + formatPointerStep(key))
    if (found !== null) return found
  }
  return null
}

/** Tests whether a value has more than this number of levels. */
export function isDeeper(value: Json, levels: number): boolean {
  if (levels === 0) return true
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each) => isDeeper(each, levels - 1))
  for (const key in value) if (isDeeper(value[key] ?? null, levels - 1)) return true
  return false
}

/** Maximum nesting. Edgewise writes less: manifests and answers have at most 64 levels. */
export const maxJsonLevels = 100

/**
 * Parses a text; undefined if it is not JSON, has an unpaired surrogate (RFC 7493), which has no
 * encoding and no canonical form, or is nested deeper than what works with it can follow.
 */
export function parseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    return hasUnpairedSurrogate(text) || isDeeper(value, maxJsonLevels) ? undefined : value
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Tests whether the escapes in a JSON text have a surrogate without the other half of its pair. */
function hasUnpairedSurrogate(text: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false
  let lowAt = -1
  for (const { 0: escape, 1: digits = '', index } of text.matchAll(
    /\\(?:u([\da-fA-F]{4})|[^u])/g,
  )) {
    const code = Number.parseInt(digits, 16)
    const isLow = code >= 0xdc00 && code <= 0xdfff
    if (isLow !== (index === lowAt)) return true
    lowAt = code >= 0xd800 && code < 0xdc00 ? index + escape.length : -1
    if (lowAt >= 0 && text.slice(lowAt, lowAt + 2) !== '\\u') return true
  }
  return false
}

/** Returns a value that is a list, and an empty one for any other. */
export function toList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** Compares two JSON values; the order of keys does not matter. */
export function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a))
    return (
      Array.isArray(b) && a.length === b.length && a.every((entry, i) => isSameJson(entry, b[i]))
    )
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  )
}

/**
 * Characters that a text may hide or that control what shows it. Joiners are kept: emoji and
 * several scripts need them. The last four are letters without a glyph.
 */
export const unsafe =
  String.raw`[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|` + String.raw`[\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]`
/** Printable ASCII and line ends. Node matches it sooner than it compiles other patterns. */
export const plainText = /^[\n\x20-\x7e]*$/

/** Formats JSON with a line end; it hides nothing, as `escapeJson`. */
export function formatJson(value: unknown, indent?: number): string {
  return `${escapeJson(JSON.stringify(value, null, indent))}\n`
}

/** Escapes invisible characters of a text that is JSON; its value stays the same. */
export function escapeJson(json: string): string {
  // Outside of strings JSON has no such character but line ends and tabs.
  return plainText.test(json)
    ? json
    : json.replace(new RegExp(String.raw`(?![\n\t])(?:${unsafe})`, 'gu'), escapeUnits)
}

/** Escapes each unit of UTF-16 as in JSON. */
export function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
