import { describe, expect, it } from 'vitest'
import { mergeOver, type MergeFault } from '../../src/manifest/manifests/merge.ts'
import { findOrigin, type Layer } from '../../src/manifest/workspace-file/find-origin.ts'
import {
  resolvePointer,
  isObject,
  formatPointerStep,
  type Json,
  type JsonObject,
} from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'

function merge(...values: JsonObject[]): { value: JsonObject; faults: MergeFault[] } {
  const faults: MergeFault[] = []
  return { value: values.reduce((below, above) => mergeOver(below, above, faults), {}), faults }
}

describe('mergeOver', () => {
  it('passes the examples of RFC 7396', () => {
    expect(merge({ a: 'b' }, { a: 'c' }).value).toEqual({ a: 'c' })
    expect(merge({ a: 'b' }, { b: 'c' }).value).toEqual({ a: 'b', b: 'c' })
    expect(merge({ a: 'b', b: 'c' }, { a: null }).value).toEqual({ b: 'c' })
    expect(merge({ a: ['b'] }, { a: 'c' }).value).toEqual({ a: 'c' })
    expect(merge({ a: { b: 'c' } }, { a: { b: 'd', c: null } }).value).toEqual({ a: { b: 'd' } })
    expect(merge({ a: [{ b: 'c' }] }, { a: [1] }).value).toEqual({ a: [1] })
    expect(merge({}, { a: { bb: { ccc: null } } }).value).toEqual({ a: { bb: {} } })
    expect(merge({ e: null }, { a: [{ b: null }] }).value).toEqual({ a: [{ b: null }] })
  })

  it('appends to the list below, or becomes the list if there is none', () => {
    expect(merge({ a: [1] }, { a: { $append: [2] } }, { a: { $append: [3] } }).value).toEqual({
      a: [1, 2, 3],
    })
    expect(merge({ a: { $append: [2] } }).value).toEqual({ a: [2] })
    expect(merge({ a: [1] }, { a: null }, { a: { $append: [2] } }).value).toEqual({ a: [2] })
  })

  it('prepends to the list below, beside an append', () => {
    const both = { $append: [4], $prepend: [0] }
    expect(merge({ a: [1] }, { a: { $prepend: [0] } }).value).toEqual({ a: [0, 1] })
    expect(merge({ a: [2] }, { a: both }, { a: both }).value).toEqual({ a: [0, 0, 2, 4, 4] })
    expect(merge({ a: both }).value).toEqual({ a: [0, 4] })
    expect(merge({ a: both }, { a: [9] }).value).toEqual({ a: [9] })
  })

  it.each(['$append', '$prepend'])('refuses an invalid %s', (key) => {
    const detail = `"${key}" adds to a list, but the inherited value is a `
    expect(merge({ a: { b: 1 } }, { a: { [key]: [2] } }).faults).toEqual([
      { pointer: `/a/${key}`, detail: `${detail}mapping` },
    ])
    expect(merge({ a: 'x,y' }, { a: { [key]: [2] } }).faults).toEqual([
      { pointer: `/a/${key}`, detail: `${detail}plain value` },
    ])
    expect(merge({ a: { [key]: 2 } }).faults).toEqual([
      { pointer: `/a/${key}`, detail: `expected a list of the entries to add under "${key}"` },
    ])
    expect(merge({ a: { [key]: [], 'b/c': 1 } }).faults).toEqual([
      {
        pointer: '/a/b~1c',
        detail: 'expected only "$prepend" and "$append" in their mapping, got "b/c"',
      },
    ])
  })

  it('keeps $unset as a value, over and under a mapping', () => {
    expect(merge({ a: { b: 1 } }, { a: { $unset: true } }).value).toEqual({ a: { $unset: true } })
    expect(merge({ a: { $unset: true } }, { a: { b: 1 } }).value).toEqual({ a: { b: 1 } })
  })
})

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 })
const leaf = fc.oneof(
  fc.integer({ min: 0, max: 9 }),
  fc.constant(null),
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
  fc.constant({ $unset: true }),
)
const tree: fc.Arbitrary<JsonObject> = fc.letrec<{ node: Json; map: JsonObject }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    leaf,
    tie('map'),
    fc.record({ $append: digits }),
    fc.record({ $prepend: digits }),
    fc.record({ $prepend: digits, $append: digits }),
  ),
  map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node'), { maxKeys: 3 }),
})).map

describe('findOrigin', () => {
  itOften('finds the layer of every part of a merged value', () => {
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), (values) => {
        const { value, faults } = merge(...values)
        fc.pre(faults.length === 0)
        const layers: Layer[] = values.map((config) => ({
          config,
          base: '/config',
          document: { file: { path: 'a', text: '' }, index: 0, value: null },
        }))
        for (const pointer of listPointers(value)) {
          const origin = findOrigin(layers, pointer)
          const part = resolvePointer(value, pointer)
          const source = resolvePointer(origin?.layer.config, origin?.pointer ?? '')
          if (isObject(part) || Array.isArray(part)) expect(source).toBeDefined()
          else expect({ pointer, source }).toEqual({ pointer, source: part })
        }
      }),
      { numRuns: runs(100, 1_500) },
    )
  })

  it('never changes its arguments', () => {
    fc.assert(
      fc.property(tree, tree, (below, above) => {
        const before = JSON.stringify([below, above])
        merge(below, above)
        expect(JSON.stringify([below, above])).toBe(before)
      }),
    )
  })
})

function listPointers(value: Json, pointer = ''): string[] {
  const entries = Array.isArray(value)
    ? value.map((entry, i) => [String(i), entry] as const)
    : isObject(value)
      ? Object.entries(value)
      : []
  return [
    pointer,
    ...entries.flatMap(([key, entry]) => listPointers(entry, pointer + formatPointerStep(key))),
  ]
}
