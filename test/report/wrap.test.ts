import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth, visible, visibleLines, wrap, wrapSentences } from '../../src/report/wrap.ts'
import { anyText, controls } from './a-diagnostic.ts'

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
    ['क्षि', 2],
    ['\u001b[31mred\u001b[0m', 3],
    ['', 0],
  ])('%j takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width)
  })
})

describe('visible', () => {
  it.each([
    ['a\tb\r\n', 'a\\tb\\r\\n'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b\u007f\u0000', '\\u{9b}\\u{7f}\\u{0}'],
    ['a\u202egpj', 'a\\u{202e}gpj'],
    ['\ud800', '\\u{d800}'],
    ['\u200b\ufeff\u2028', '\\u{200b}\\u{feff}\\u{2028}'],
    ['👩‍👩‍👧 héé 漢', '👩‍👩‍👧 héé 漢'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visible(text)).toBe(shown)
  })

  it('leaves no control character', () => {
    fc.assert(fc.property(anyText, (text) => !controls.test(visible(text)) && !visible(text).includes('\n')))
  })
})

describe('wrap', () => {
  it('breaks at blanks, sets every line in, keeps line ends and what a line is set in by', () => {
    expect(wrap('one two three four\n\n  five six seven', 12, '> ')).toBe('> one two\n> three four\n\n>   five six\n>   seven')
  })

  it('breaks a word that is longer than a line, between characters', () => {
    expect(wrap('a 漢字漢字漢 b', 6, ' ')).toBe(' a\n 漢字\n 漢字\n 漢 b')
  })

  it('breaks nothing without an end to the columns', () => {
    expect(wrap('word '.repeat(100).trim(), Infinity, '')).toBe('word '.repeat(100).trim())
  })

  it('never exceeds the columns and loses no word', () => {
    fc.assert(
      fc.property(anyText.map(visible), fc.integer({ min: 16, max: 120 }), (text, columns) => {
        const lines = wrap(text, columns, '  ').split('\n')
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns)
        expect(lines.join('').replaceAll(' ', '')).toBe(text.trim().replaceAll(/\s/g, ''))
      }),
    )
  })
})

describe('wrapSentences', () => {
  it('breaks at blanks, sets in what a line is broken into, and leaves lines that fit', () => {
    expect(wrapSentences('error: one two three\n  four five six seven\nfits  as it is', 14)).toBe(
      'error: one two\n  three\n  four five\n    six seven\nfits  as it is',
    )
  })

  it.each([
    'edgewise state history',
    'git revert 0123456789ab',
    '"edgewise rollback 20260102T030405Z-1a2b"',
    '--target "*.example.com"',
    '/a/very/long/path/that/does/not/fit',
  ])('keeps %s whole', (copied) => {
    const kept = copied.replace(/^--target /, '')
    const text = `some words (${copied}), and some more; then ${copied}.`
    for (let columns = 20; columns < 80; columns++) {
      const lines = wrapSentences(text, columns).split('\n')
      expect(lines.join(' ').split(kept)).toHaveLength(3)
    }
  })

  it('loses nothing, and is longer than the columns only where a word is', () => {
    fc.assert(
      fc.property(anyText.map(visibleLines), fc.integer({ min: 20, max: 120 }), (text, columns) => {
        const wrapped = wrapSentences(text, columns)
        expect(wrapped.replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''))
        for (const line of wrapped.split('\n')) {
          if (displayWidth(line) > columns) expect(line.trim().replace(/"[^"]*"/g, '')).not.toContain(' ')
        }
      }),
    )
  })
})
