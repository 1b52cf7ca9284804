import canonicalize from 'canonicalize'
import type { Json } from '../json.ts'

/**
 * Formats a JSON value canonically (RFC 8785): sorted keys, one spelling of numbers. Equal values
 * give equal bytes.
 */
export function canonicalizeJson(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('expected a JSON value, got undefined')
  return text
}

/**
 * Creates a function that numbers values: equal ones have the same number. An object that is given
 * again, as profiles share values, is not formatted again.
 */
export function createNumbering(format = canonicalizeJson): (value: Json) => number {
  const byObject = new WeakMap<object, number>()
  const byText = new Map<string, number>()
  return (value) => {
    const object = typeof value === 'object' ? value : null
    const known = object === null ? undefined : byObject.get(object)
    if (known !== undefined) return known
    const text = format(value)
    const number = byText.get(text) ?? byText.size
    byText.set(text, number)
    if (object !== null) byObject.set(object, number)
    return number
  }
}
