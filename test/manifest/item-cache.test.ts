import { describe, expect, it } from 'vitest'
import { defineItem, type ItemRow } from '../../src/core/catalog/item-spec.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { describeRefusal } from '../../src/core/catalog/problems.ts'
import { ItemCache } from '../../src/manifest/manifests/item-cache.ts'
import type { ParsedState } from '../../src/manifest/manifests/parse-unset.ts'
import { createItemState } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'

const domains = ['a.example.com', 'b.example.com']

/** Parses one shared value for every domain; the finding of a problem has its text only. */
function parseForAll(row: ItemRow, key = 'some_item', cache = new ItemCache()): ParsedState[] {
  const spec = defineItem(key, { type: 'object' }, () => [], row)
  const value = {}
  return domains.map(() =>
    cache.parse(spec, value, true, () => ({
      state: null,
      findings: parseItem(spec, value, 'manifest').problems.map(({ detail }) => ({
        code: 'item-invalid',
        pointer: '',
        summary: '',
        detail,
      })),
    })),
  )
}

/** Counts how often two values are parsed. */
function countParses(first: Json, second: Json, isShared = true): number {
  const spec = defineItem('some_item', { type: 'object' }, () => [], {})
  const cache = new ItemCache()
  let count = 0
  for (const value of [first, second])
    cache.parse(spec, value, isShared, () => {
      count++
      return { state: createItemState(value), findings: [] }
    })
  return count
}

describe('an item that several domains have', () => {
  it.each<[string, Json, Json, number]>([
    ['equal values once', { time: 1 }, { time: 1 }, 1],
    ['other values', { time: 1 }, { time: '1' }, 2],
    ['fields in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, 2],
    ['plain text once', 'on', 'on', 1],
    ['equal texts with a reference', { host: '${domain}' }, { host: '${domain}' }, 2],
    ['long values', { list: ['a'.repeat(5000)] }, { list: ['a'.repeat(5000)] }, 2],
  ])('parses %s', (_, first, second, count) => {
    expect(countParses(first, second)).toBe(count)
    expect(countParses(first, second, false)).toBe(count)
  })

  it('parses a long value that manifests share once', () => {
    const value = { list: ['a'.repeat(5000)] }
    expect(countParses(value, value)).toBe(1)
  })
})

describe('a value that several domains share', () => {
  it('is parsed once', () => {
    let checks = 0
    const [first, second] = parseForAll({
      check: () => {
        checks++
        return []
      },
    })
    expect(second).toBe(first)
    expect(checks).toBe(1)
  })

  it('is not shared between items', () => {
    const cache = new ItemCache()
    const details = ['some_item', 'other_item'].map((key) => {
      const [first] = parseForAll({ check: () => [describeRefusal('', key)] }, key, cache)
      return first?.findings[0]?.detail
    })
    expect(details).toEqual(['some_item', 'other_item'])
  })
})
