import { describe, expect, it } from 'vitest'
import { scripts } from '../../src/cli/completion/scripts.ts'
import { breakCommands } from '../../src/outlets/report/text/escape-invisible.ts'
import { fc, itLong } from '../runs.ts'
import { findCommands } from './runner.ts'

describe('workflow commands in text', () => {
  it.each([
    '::error::x',
    '  \t::add-mask::x',
    'a\n::set-env name=x::y',
    'a\r::error::x',
    'a\r\n\u0085\u00a0::error::x',
    '\u200d:\u200b:error::x',
    '\u0000::error::x',
    ':::error::x',
    '##[error]x',
    'text ##[add-mask]x',
    '###[error]x',
    '#\u2060#[error]x',
    '##vso[task.setvariable variable=x]y',
    '##teamcity[x]',
    'section_start:1:x\r\u001b[0Ktitle',
    'section_end:1:x\r\u001b[0K',
  ])('%j is broken', (text) => {
    expect(findCommands(text)).not.toEqual([])
    expect(findCommands(breakCommands(text))).toEqual([])
  })

  it('are broken in every text, which stays as long as it has none', () => {
    const marks = [':', '::', '#', '##', '[', ']', ' ', '\n', '\r', '\t', '"', '\\']
    const others = ['\u200d', '\u00ad', '\ufeff', '\u0085', 'error', 'section_start:1:', 'vso']
    const pieces = fc.constantFrom(...marks, ...others)
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const text = parts.join('')
        const broken = breakCommands(text)
        expect(findCommands(broken)).toEqual([])
        expect(breakCommands(broken)).toBe(broken)
        if (findCommands(text).length === 0 && !/[:#]/.test(text)) expect(broken).toBe(text)
        // JSON keeps its values.
        for (const json of [JSON.stringify(text), JSON.stringify({ [text]: [text] }, null, 2)])
          expect([findCommands(breakCommands(json)), JSON.parse(breakCommands(json))]).toEqual([
            [],
            JSON.parse(json),
          ])
      }),
    )
  })

  itLong('take linear time', () => {
    for (const piece of [' ', ':', '#', '\u200d', '\n', '\r', '#\u200d', 'section_'])
      expect(breakCommands(piece.repeat(300_000)).length).toBeGreaterThan(0)
  })

  it('are not in the scripts of the completion', () => {
    for (const script of Object.values(scripts)) {
      expect(breakCommands(script)).toBe(script)
    }
  })
})
