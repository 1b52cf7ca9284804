import { describe, expect, it } from 'vitest'
import type { Place } from '../../src/core/model/problem.ts'
import {
  formatCodeFrame,
  formatDiagnosticsText,
} from '../../src/outlets/report/diagnostics/text.ts'
import { plainPaint, type Paint } from '../../src/outlets/report/text/paint.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import { createDiagnostic, anyDiagnostic, anyText, controls } from './create-diagnostic.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

const style = { findLine: () => null, paint: plainPaint, columns: 80 }

const tag = (name: string) => (text: string) => `<${name}>${text}</${name}>`

/** Formats the code frame of a range of a line. */
function frame(line: string, column: number, endColumn: number, columns = 80): string[] {
  const place: Place = { file: 'a.yaml', line: 7, column, endLine: 7, endColumn }
  return formatCodeFrame(place, line, { paint: plainPaint, columns, mark: plainPaint.red }).split(
    '\n',
  )
}

describe('formatDiagnosticsText', () => {
  it('shows position, problem, source line, range and related positions, then the totals', () => {
    const lines: Record<string, string> = {
      'domains/www.yaml': '    http2: yes',
      'profiles/base.yaml': 'profile: base',
    }
    const text = formatDiagnosticsText(
      [
        createDiagnostic({
          file: 'profiles/base.yaml',
          severity: 'warning',
          summary: 'Profile not used',
          detail: '',
          line: 1,
          column: 1,
          endLine: 1,
          endColumn: 8,
        }),
        createDiagnostic({
          detail:
            'Expected on or off, got "yes". In YAML 1.2 yes is a plain string; write on, which ' +
            'is what the service takes.',
          related: [
            {
              file: 'profiles/base.yaml',
              line: 1,
              column: 10,
              endLine: 1,
              endColumn: 14,
              message: 'from this profile',
            },
          ],
        }),
        createDiagnostic({ file: 'domains/gone.yaml', line: 2, column: 1 }),
      ],
      { ...style, columns: 60, findLine: (place) => lines[place.file] ?? null },
    )
    expect(text).toBe(`domains/gone.yaml:2:1  error  Value not allowed
  Expected on or off, got "yes". Write on.

domains/www.yaml:7:12  error  Value not allowed
  Expected on or off, got "yes". In YAML 1.2 yes is a plain
  string; write on, which is what the service takes.
  7 |     http2: yes
    |            ^^^
  profiles/base.yaml:1:10  from this profile
  1 | profile: base
    |          ^^^^

profiles/base.yaml:1:1  warning  Profile not used
  1 | profile: base
    | ^^^^^^^

2 errors, 1 warning in 3 files
`)
  })

  it('is empty without diagnostics', () => {
    expect(formatDiagnosticsText([], style)).toBe('')
  })

  it('uses the singular for one problem', () => {
    expect(formatDiagnosticsText([createDiagnostic()], style)).toMatch(/\n1 error in 1 file\n$/)
    expect(formatDiagnosticsText([createDiagnostic({ severity: 'warning' })], style)).toMatch(
      /\n1 warning in 1 file\n$/,
    )
  })

  it('paints errors red, warnings yellow, and no text from a file', () => {
    const paint: Paint = {
      bold: tag('b'),
      dim: tag('dim'),
      red: tag('red'),
      green: tag('green'),
      yellow: tag('yellow'),
      cyan: tag('cyan'),
    }
    const text = formatDiagnosticsText(
      [createDiagnostic(), createDiagnostic({ severity: 'warning', line: 9 })],
      {
        ...style,
        paint,
        findLine: () => 'http2:     yes',
      },
    )
    expect(text).toContain('<b>domains/www.yaml:7:12</b>  <red>error</red>  Value not allowed')
    expect(text).toContain(
      '<dim>  7 | </dim>http2:     yes\n<dim>    | </dim>           <red>^^^</red>',
    )
    expect(text).toContain('<yellow>warning</yellow>')
  })

  itLong('prints no control character of a file', () => {
    fc.assert(
      fc.property(
        fc.array(anyDiagnostic, { maxLength: 3 }),
        anyText,
        fc.integer({ min: 24, max: 140 }),
        (diagnostics, line, columns) => {
          expect(
            formatDiagnosticsText(diagnostics, { ...style, columns, findLine: () => line }),
          ).not.toMatch(controls)
        },
      ),
    )
  })
})

describe('formatCodeFrame', () => {
  it.each([
    ['a tab', '\thttp2: yes', 9, 12, '    http2: yes', '           ^^^'],
    ['a tab after text', 'ab\tcd', 4, 6, 'ab  cd', '    ^^'],
    ['wide characters', '名前: 値', 5, 6, '名前: 値', '      ^^'],
    ['an emoji of several code units', 'a 👩‍👩‍👧 b', 12, 13, 'a 👩‍👩‍👧 b', '     ^'],
    ['a range within an emoji', '👩‍👩‍👧', 4, 5, '👩‍👩‍👧', '^^'],
    ['combining marks', 'e\u0301e\u0301x', 5, 6, 'e\u0301e\u0301x', '  ^'],
    ['an escape sequence', '\u001b[31mx', 6, 7, '\\u{1b}[31mx', '          ^'],
    ['an empty range', 'abc', 2, 2, 'abc', ' ^'],
    ['the end of the line', 'abc', 4, 4, 'abc', '   ^'],
    ['a place beyond the end', 'abc', 90, 95, 'abc', '   ^'],
    ['an empty line', '', 1, 1, '', '^'],
    ['a line with its end', 'abc\r\n', 1, 99, 'abc', '^^^'],
  ])('puts the carets under %s', (_name, line, column, endColumn, source, carets) => {
    expect(frame(line, column, endColumn)).toEqual([`  7 | ${source}`.trimEnd(), `    | ${carets}`])
  })

  it('marks the first line of a multi-line range', () => {
    const place: Place = { file: 'a.yaml', line: 7, column: 3, endLine: 9, endColumn: 2 }
    expect(
      formatCodeFrame(place, 'a: [1,', { paint: plainPaint, columns: 80, mark: plainPaint.red }),
    ).toBe('  7 | a: [1,\n    |   ^^^^')
  })

  it('truncates a long line around the carets', () => {
    const line = `${'a'.repeat(100)}HERE${'b'.repeat(100)}`
    expect(frame(line, 101, 105, 36)).toEqual([
      '  7 | …aaaaaaaaaaHEREbbbbbbbbbbbbbb…',
      '    |            ^^^^',
    ])
    expect(frame(line, 1, 4, 36)).toEqual(['  7 | aaaaaaaaaaaaaaaaaaaaaaaaaaaaa…', '    | ^^^'])
    expect(frame(line, 205, 205, 36)).toEqual([
      '  7 | …bbbbbbbbbbbbbbbbbbbbbbbbbbbb',
      `    | ${' '.repeat(29)}^`,
    ])
  })

  it.each([
    ['jamo', 'ᄀ'.repeat(200), `${'ᄀ'.repeat(16)}…`],
    ['tags', `🏴${'\u{e0067}'.repeat(200)}`, `🏴${'\\u{e0067}'.repeat(3)}…`],
  ])('splits an overlong grapheme of %s', (_name, line, source) => {
    expect(frame(line, 1, 2, 40)).toEqual([`  7 | ${source}`, '    | ^^'])
  })

  it('formats a line of several megabytes quickly', () => {
    const line = 'äx'.repeat(2_000_000)
    expect(frame(line, 2_000_001, 4_000_000, 40)[1]).toMatch(/\^$/)
  })

  itOften('never exceeds the columns, and keeps its carets under visible text', () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }))
    fc.assert(
      fc.property(
        anyText,
        range,
        fc.integer({ min: 24, max: 140 }),
        (line, [column, endColumn], columns) => {
          const [source = '', carets = ''] = frame(
            line.replaceAll('\n', ' '),
            column,
            endColumn,
            columns,
          )
          expect(measureWidth(source)).toBeLessThanOrEqual(columns)
          expect(carets.length).toBeLessThanOrEqual(columns)
          expect(carets).toMatch(/^ {4}\| *\^+$/)
          expect(source + carets).not.toMatch(controls)
        },
      ),
      { numRuns: runs(100, 1_500) },
    )
  })
})
