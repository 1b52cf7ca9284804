import jsonPatch from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { computePatch } from '../../src/core/diff/diff-snapshots.ts'
import type { PatchOperation } from '../../src/core/model/change.ts'
import type { Json } from '../../src/core/model/json.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import { fc, itLong, runs } from '../runs.ts'

/** Applies a patch with a library of its own. */
function applyPatch(before: Json, patch: PatchOperation[]): Json {
  const operations = structuredClone(patch) as Parameters<typeof jsonPatch.applyPatch>[1]
  return jsonPatch.applyPatch(structuredClone(before), operations, true, false).newDocument
}

const key = fc
  .oneof(
    fc.constantFrom('a', 'b', '', '/', '~', '~1', 'a/b', '0', '-', 'length'),
    fc.string({ maxLength: 4 }),
  )
  .filter((name) => name !== '__proto__')
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2.5, '', 'x', '10'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }).map((object) => ({ ...object })),
  ),
}))

describe('a patch', () => {
  itLong('turns one value into the other', () =>
    fc.assert(
      fc.property(value, value, (before, after) => {
        fc.pre(before !== null && after !== null)
        expect(canonicalizeJson(applyPatch(before, computePatch(before, after)))).toBe(
          canonicalizeJson(after),
        )
      }),
      { numRuns: runs(400, 6_000) },
    ),
  )

  it('turns an example of an item into an altered one, and back', () => {
    for (const spec of catalogue.values()) {
      const example = spec.schema.examples?.[0]
      if (example === undefined) continue
      const before = spec.canonicalize(example)
      const after = Array.isArray(before)
        ? before.slice(1)
        : typeof before === 'object' && before !== null
          ? Object.fromEntries(Object.entries(before).slice(1))
          : 'other'
      expect(applyPatch(before, computePatch(before, after)), spec.key).toEqual(after)
      expect(applyPatch(after, computePatch(after, before)), spec.key).toEqual(before)
    }
  })

  it('is RFC 6902: known operations, pointers within the value, a value if required', () =>
    fc.assert(
      fc.property(value, value, (before, after) => {
        for (const operation of computePatch(before, after)) {
          expect(['add', 'remove', 'replace']).toContain(operation.op)
          expect(operation.path).toMatch(/^(?:\/(?:[^~/]|~[01])*)*$/s)
          expect(Object.hasOwn(operation, 'value')).toBe(operation.op !== 'remove')
        }
      }),
    ))

  it('is empty for equal values', () =>
    fc.assert(
      fc.property(value, (same) => {
        expect(computePatch(same, structuredClone(same))).toEqual([])
      }),
    ))

  it('replaces the whole value from and to nothing', () => {
    expect(computePatch(null, [1])).toEqual([{ op: 'add', path: '', value: [1] }])
    expect(computePatch([1], null)).toEqual([{ op: 'remove', path: '' }])
    expect(computePatch(null, null)).toEqual([])
  })

  it('is as small as the difference', () => {
    const before = { list: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], mode: 'cover' }
    expect(computePatch(before, { ...before, list: [...before.list, '192.0.2.4'] })).toEqual([
      { op: 'add', path: '/list/3', value: '192.0.2.4' },
    ])
    expect(computePatch({ 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } })).toEqual([
      { op: 'replace', path: '/a~1b/~0', value: 2 },
    ])
    expect(computePatch({ a: [] }, { a: {} })).toEqual([{ op: 'replace', path: '/a', value: {} }])
    expect(computePatch([], {})).toEqual([{ op: 'replace', path: '', value: {} }])
    expect(computePatch('off', 'on')).toEqual([{ op: 'replace', path: '', value: 'on' }])
  })

  it('shares no objects with the values', () => {
    const after = { list: [{ name: 'x' }] }
    const patch = computePatch({ list: [] }, after)
    after.list[0] = { name: 'y' }
    expect(JSON.stringify(patch)).not.toContain('y')
  })
})
