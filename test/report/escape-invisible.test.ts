import { describe, expect, it } from 'vitest'
import { escapeInvisible, escapeStray } from '../../src/outlets/report/text/escape-invisible.ts'
import { anyText, controls } from './create-diagnostic.ts'
import { fc } from '../runs.ts'

describe('escapeInvisible', () => {
  it.each([
    ['a\tb\r\n', 'a\\tb\\r\\n'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b\u007f\u0000', '\\u{9b}\\u{7f}\\u{0}'],
    ['a\u202egpj', 'a\\u{202e}gpj'],
    ['\ud800', '\\u{d800}'],
    ['a\u3164\u115f\u1160\uffa0', 'a\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}'],
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

describe('escapeStray', () => {
  const painted = '\u001b[31mred\u001b[39m\tx\r\n'
  it.each([
    ['a\u0085\u202e\u{e0041}', 'a\\u0085\\u202e\\udb40\\udc41', 'a\\u0085\\u202e\\udb40\\udc41'],
    [painted, painted, painted],
    ['\r\u001b[K', '\\u000d\\u001b[K', '\r\u001b[K'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007', '\\u001b]0;title\\u0007'],
  ])('%j is %j in a log and %j on a terminal', (text, inLog, onTerminal) => {
    expect([escapeStray(text, false), escapeStray(text, true)]).toEqual([inLog, onTerminal])
  })

  it('keeps the values of JSON', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = JSON.stringify({ [text]: text }, null, 2)
        expect(JSON.parse(escapeStray(json, false))).toEqual(JSON.parse(json))
      }),
    )
  })
})
