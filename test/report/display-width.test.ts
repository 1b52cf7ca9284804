import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { measureWidth, splitGraphemes } from '../../src/outlets/report/text/display-width.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

describe('measureWidth', () => {
  it.each([
    ['plain', 5],
    ['漢字', 4],
    ['ｆｕｌｌ', 8],
    ['한글', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['❤', 1],
    ['🇩🇪', 2],
    ['1\u20e3', 2],
    ['क्षि', 2],
    ['நி', 2],
    ['䷀', 2],
    ['\u001b[31mred\u001b[0m', 3],
    ['', 0],
  ])('%j takes %i columns', (text, width) => {
    expect(measureWidth(text)).toBe(width)
  })
})

describe('text is measured and split', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const split = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment)

  itLong('as string-width does it, for each character up to the box drawings', () => {
    const characters = Array.from({ length: 0x2600 - 0x20 }, (_, i) =>
      String.fromCharCode(0x20 + i),
    )
    expect(characters.filter((each) => measureWidth(each) !== stringWidth(each))).toEqual([])
  })

  itOften('as string-width and Intl.Segmenter do it, for characters in any order', () => {
    const character = fc.oneof(
      fc.integer({ min: 0x20, max: 0x2ff }),
      fc.integer({ min: 0x2010, max: 0x2027 }),
      fc.integer({ min: 0x2190, max: 0x257f }),
      fc.constantFrom(0x300, 0x200d, 0xfe0f, 0x20e3),
    )
    const text = fc.array(character, { maxLength: 4 }).map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(text, (each) => {
        expect(measureWidth(each)).toBe(stringWidth(each))
        expect(splitGraphemes(each)).toEqual(split(each))
      }),
      { numRuns: runs(300, 20_000) },
    )
  })
})
