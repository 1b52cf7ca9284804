import { describe, expect, it } from 'vitest'
import { measureWidth } from '../../src/report/text/display-width.ts'

describe('displayWidth', () => {
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
