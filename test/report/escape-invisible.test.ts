import { describe, expect, it } from 'vitest'
import { escapeInvisible } from '../../src/report/text/escape-invisible.ts'
import { anyText, controls } from './create-diagnostic.ts'
import { fc } from '../runs.ts'

describe('escapeInvisible', () => {
  it.each([
    ['a\tb\r\n', 'a\\tb\\r\\n'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b\u007f\u0000', '\\u{9b}\\u{7f}\\u{0}'],
    ['a\u202egpj', 'a\\u{202e}gpj'],
    ['\ud800', '\\u{d800}'],
    ['\u200b\ufeff\u2028', '\\u{200b}\\u{feff}\\u{2028}'],
    ['👩‍👩‍👧 héé 漢', '👩‍👩‍👧 héé 漢'],
  ])('%j becomes %s', (text, shown) => {
    expect(escapeInvisible(text)).toBe(shown)
  })

  it('leaves no control character', () => {
    fc.assert(
      fc.property(
        anyText,
        (text) => !controls.test(escapeInvisible(text)) && !escapeInvisible(text).includes('\n'),
      ),
    )
  })
})
