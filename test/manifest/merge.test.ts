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

  it('refuses an invalid append', () => {
    expect(merge({ a: { b: 1 } }, { a: { $append: [2] } }).faults).toEqual([
      {
        pointer: '/a/$append',
        detail: '"$append" adds to a list, but the inherited value is a mapping',
      },
    ])
    expect(merge({ a: 'x,y' }, { a: { $append: [2] } }).faults).toEqual([
      {
        pointer: '/a/$append',
        detail: '"$append" adds to a list, but the inherited value is a plain value',
      },
    ])
    expect(merge({ a: { $append: 2 } }).faults).toEqual([
      { pointer: '/a/$append', detail: 'expected a list of the entries to add under "$append"' },
    ])
    expect(merge({ a: { $append: [], 'b/c': 1 } }).faults).toEqual([
      {
        pointer: '/a/b~1c',
        detail:
          'expected "$append" as the only key of its mapping, got "b/c" as well. Remove ' +
          'one of the two.',
      },
    ])
  })

  it('keeps $unset as a value, over and under a mapping', () => {
    expect(merge({ a: { b: 1 } }, { a: { $unset: true } }).value).toEqual({ a: { $unset: true } })
    expect(merge({ a: { $unset: true } }, { a: { b: 1 } }).value).toEqual({ a: { b: 1 } })
  })
})

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
    fc.record({ $append: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }) }),
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
