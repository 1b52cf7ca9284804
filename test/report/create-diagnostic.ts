import type { Diagnostic } from '../../src/core/model/problem.ts'
import { anyCharacter, fc } from '../runs.ts'

/** Creates a valid diagnostic with overrides. */
export function createDiagnostic(otherwise: Partial<Diagnostic> = {}): Diagnostic {
  return {
    severity: 'error',
    code: 'item-invalid',
    summary: 'Value not allowed',
    detail: 'Expected on or off, got "yes". Write on.',
    file: 'domains/www.yaml',
    document: 0,
    line: 7,
    column: 12,
    endLine: 7,
    endColumn: 15,
    domain: 'www.example.com',
    item: 'https',
    pointer: '/config/https/http2',
    ...otherwise,
  }
}

const hostile = [
  '\t',
  '\r',
  '\n',
  '\u001b[31m',
  '\u0007',
  '\u009b',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\ud800',
  '\u2028',
  '%',
  ':',
  ',',
  '::error::',
]
const wide = [
  '漢',
  'e\u0301',
  '👩‍👩‍👧',
  '🏴\u{e0067}\u{e007f}',
  '❤️',
  'ᄀ',
  '\u0300',
  '\u0903',
  'x'.repeat(60),
]

/**
 * Any text, hostile ones often: control characters, wide characters, emoji, half surrogate pairs.
 */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('a', ' ', ...hostile, ...wide), maxLength: 80 }),
)

const place = fc.record({
  file: anyText,
  line: fc.integer({ min: 1, max: 99_999 }),
  column: fc.integer({ min: 1, max: 300 }),
  endLine: fc.integer({ min: 1, max: 99_999 }),
  endColumn: fc.integer({ min: 1, max: 300 }),
})

/** Any diagnostic with any text. */
export const anyDiagnostic: fc.Arbitrary<Diagnostic> = fc
  .tuple(
    place,
    anyText,
    anyText,
    fc.array(fc.tuple(place, anyText), { maxLength: 2 }),
    fc.boolean(),
  )
  .map(([at, summary, detail, related, isError]) =>
    createDiagnostic({
      ...at,
      severity: isError ? 'error' : 'warning',
      summary,
      detail,
      related: related.map(([where, message]) => ({ ...where, message })),
    }),
  )

/** Every character that can control a terminal or end a command, except the line end. */
export const controls = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]|\p{Cs}/u
