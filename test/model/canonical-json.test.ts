import { describe, expect, it } from 'vitest'
import { type Json, isObject, isSameJson } from '../../src/core/model/json.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import { fc, itOften, runs } from '../runs.ts'

/**
 * Few keys and few scalars, so that equal values occur; some keys are names of prototype members.
 */
const few: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, -0, '', '0', 'a'),
    fc.array(tie('json'), { maxLength: 2 }),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'constructor', 'toString', '__proto__'), tie('json'), {
        maxKeys: 2,
      })
      .map((entries) => entries as Json),
  ),
})).json

function reverseKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, reverseKeys(inner)] as const)
  return Object.fromEntries(entries.toReversed())
}

describe('the same JSON', () => {
  itOften('means the same canonical text', () => {
    fc.assert(
      fc.property(few, few, (a, b) => {
        expect(isSameJson(a, b)).toBe(canonicalizeJson(a) === canonicalizeJson(b))
      }),
      { numRuns: runs(400, 6_000) },
    )
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(few, (value) => {
        expect(isSameJson(value, reverseKeys(value))).toBe(true)
      }),
    )
  })

  it('never equals undefined', () => {
    expect(isSameJson(undefined, null)).toBe(false)
    expect(isSameJson({}, undefined)).toBe(false)
    expect(isSameJson(undefined, undefined)).toBe(true)
  })
})
