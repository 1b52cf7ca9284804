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
