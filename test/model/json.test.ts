import { describe, expect, it } from 'vitest'
import { isDeeper, parseJson, type Json } from '../../src/core/model/json.ts'

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

  it.each([101, 100_000])(
    'refuses %i levels, more than what works with it can follow',
    (levels) => {
      const text = '['.repeat(levels) + ']'.repeat(levels)
      expect(parseJson(text)).toBeUndefined()
      expect(isDeeper(JSON.parse(text) as Json, 100)).toBe(true)
      expect(parseJson(text.slice(1, -1)) === undefined).toBe(levels > 101)
    },
  )

  it('counts a value as a level', () => {
    expect([isDeeper([[1]], 2), isDeeper([[1]], 3)]).toEqual([true, false])
  })
})
