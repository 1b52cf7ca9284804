import { describe, expect, it } from 'vitest'
import { isDeeper, parseJson } from '../../src/core/model/json.ts'

describe('parseJson', () => {
  it.each([
    '"\\ud800"',
    '"\\udc00"',
    '{"\\ud800": 1}',
    '"\\ud800\\n"',
    '"\\udc00\\ud800"',
    '"\\ud83dx"',
  ])('refuses the unpaired surrogate in %s', (text) => {
    expect(parseJson(text)).toBeUndefined()
  })

  it.each([
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\ud83d\\ude00\\ud83d\\ude00"', '😀😀'],
    ['"\\u00e9\\ud83d\\ude00x"', 'é😀x'],
    ['{"__proto__": 1}', JSON.parse('{"__proto__": 1}') as object],
  ])('accepts %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it('accepts 100,000 levels, which isDeeper finds without recursion', () => {
    const deep = parseJson('['.repeat(100_000) + ']'.repeat(100_000)) ?? null
    expect([isDeeper(deep, 64), isDeeper([[1]], 2), isDeeper([[1]], 3)]).toEqual([
      true,
      true,
      false,
    ])
  })
})
