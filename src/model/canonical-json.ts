import canonicalize from 'canonicalize'
import type { Json } from './json.ts'

/**
 * Formats a JSON value canonically (RFC 8785): sorted keys, one spelling of numbers. Equal values
 * give equal bytes.
 */
export function canonicalizeJson(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('expected a JSON value, got undefined')
  return text
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
