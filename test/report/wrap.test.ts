import { describe, expect, it } from 'vitest'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import {
  escapeInvisible,
  escapeInvisibleInLines,
} from '../../src/outlets/report/text/escape-invisible.ts'
import { wrap, wrapSentences } from '../../src/outlets/report/text/wrap.ts'
import { anyText } from './create-diagnostic.ts'
import { fc } from '../runs.ts'

describe('wrap', () => {
  it('breaks at blanks, indents every line, keeps line ends and indents', () => {
    expect(wrap('one two three four\n\n  five six seven', 12, '> ')).toBe(
      '> one two\n> three four\n\n>   five six\n>   seven',
    )
  })

  it('breaks a word longer than a line between characters', () => {
    expect(wrap('a 漢字漢字漢 b', 6, ' ')).toBe(' a\n 漢字\n 漢字\n 漢 b')
  })

  it('breaks nothing for infinite columns', () => {
    expect(wrap('word '.repeat(100).trim(), Infinity, '')).toBe('word '.repeat(100).trim())
  })

  it('never exceeds the columns, and loses no word', () => {
    fc.assert(
      fc.property(
        anyText.map(escapeInvisible),
        fc.integer({ min: 16, max: 120 }),
        (text, columns) => {
          const lines = wrap(text, columns, '  ').split('\n')
          expect(Math.max(...lines.map(measureWidth))).toBeLessThanOrEqual(columns)
          expect(lines.join('').replaceAll(' ', '')).toBe(text.trim().replaceAll(/\s/g, ''))
        },
      ),
    )
  })
})

describe('wrapSentences', () => {
  it('breaks at blanks, indents continuation lines, and leaves lines that fit', () => {
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

  it('keeps an indented command on its line', () => {
    const text =
      'To restore the newer state, run:\n  git push --force-with-lease=a:1 origin 2:refs/a'
    expect(wrapSentences(text, 40)).toBe(text)
  })

  it('loses nothing, and exceeds the columns only for a longer word', () => {
    fc.assert(
      fc.property(
        anyText.map(escapeInvisibleInLines),
        fc.integer({ min: 20, max: 120 }),
        (text, columns) => {
          const wrapped = wrapSentences(text, columns)
          expect(wrapped.replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''))
          for (const line of wrapped.split('\n')) {
            if (measureWidth(line) > columns)
              expect(line.trim().replace(/"[^"]*"/g, '')).not.toContain(' ')
          }
        },
      ),
    )
  })
})
