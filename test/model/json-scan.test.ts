import { describe, expect, it } from 'vitest'
import { scanJson } from '../../src/core/model/text/json-scan.ts'
import { parseJson } from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'

describe('scanJson', () => {
  itOften('accepts what the parser accepts', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', '[', '\\', 'e'),
        (text, at, add) => {
          const cut = at % (text.length + 1)
          const changed = text.slice(0, cut) + add + text.slice(cut + 1)
          for (const each of [text, changed])
            expect(scanJson(each).fault === null).toBe(parseJson(each) !== undefined)
        },
      ),
      { numRuns: runs(100, 2000) },
    )
  })

  it('locates values and keys by pointers', () => {
    const text = '{"a/b": [1, {"c": "x\\u0041"}], "": true}'
    const { places } = scanJson(text, new Set(['', '/a~1b', '/a~1b/0', '/a~1b/1/c', '/', '/none']))
    const shown = [...places].map(([pointer, { key, value }]) => [
      pointer,
      key === null ? null : text.slice(...key),
      text.slice(...value),
    ])
    expect(shown).toEqual([
      ['', null, '{'],
      ['/a~1b', '"a/b"', '['],
      ['/a~1b/0', null, '1'],
      ['/a~1b/1/c', '"c"', '"x\\u0041"'],
      ['/', '""', 'true'],
    ])
  })

  it('finds keys that occur twice, in any spelling', () => {
    const text = '{"a": {"b": 1}, "b": 1, "\\u0061": 2}'
    expect(scanJson(text).duplicates.map((range) => text.slice(...range))).toEqual(['"\\u0061"'])
  })

  it('scans large and deep texts', () => {
    expect(scanJson(`"${'x'.repeat(1_000_000)}`).fault).toMatchObject({ at: 1_000_001 })
    const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(scanJson(nest(64), new Set(['/0/0'])).fault).toBeNull()
    expect(scanJson(nest(100_000)).fault).toMatchObject({ at: 64, isTooDeep: true })
  })
})
