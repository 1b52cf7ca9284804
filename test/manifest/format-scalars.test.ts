import { expect, it } from 'vitest'
import { parseAllDocuments, visit } from 'yaml'
import { formatYaml } from '../../src/manifest/yaml/format-yaml.ts'
import { parseAnyYaml, parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { fc, itOften, runs } from '../runs.ts'

const path = 'domains/a.yaml'

function format(text: string): string {
  const result = formatYaml({ path, text })
  if (!('text' in result)) throw new Error(`expected a text for ${text}: ${JSON.stringify(result)}`)
  return result.text
}

/** Lists the scalars as they are written, but for the blanks at which their lines begin, sorted. */
function listScalars(text: string): string[] {
  const scalars: string[] = []
  for (const document of parseAllDocuments(text, { version: '1.2', schema: 'core' }))
    visit(document, {
      Scalar: (_, { range, source }) => {
        const written = text.slice(range?.[0], range?.[1]).replaceAll(/\r?\n[ \t]*/g, '\n')
        scalars.push(JSON.stringify([written.trimEnd(), source?.replaceAll('\r', '')]))
      },
    })
  return scalars.toSorted()
}

function expectSame(text: string): void {
  const formatted = format(text)
  expect(listScalars(formatted), text).toEqual(listScalars(text))
  const values = (parse: typeof parseYaml, of: string) =>
    parse({ path, text: of }).documents.map(({ value }) => value)
  for (const parse of [parseYaml, parseAnyYaml])
    expect(values(parse, formatted), text).toEqual(values(parseAnyYaml, text))
  expect(format(formatted), text).toBe(formatted)
}

const numbers =
  '0042, 1e3, 1E+3, 0x1F, 0xff, 0o17, 3.10, .5, +1, 1_000, 1.0, 1., -0, 60, -4, 1.5, 007.50'
const words = 'null, Null, ~, true, TRUE, False, yes, a b, 2026-01-01, 1:30, a#b, -x, "0042"'
const quoted =
  `'it''s', '', "", "\\x41", "\\u00e9", "\\/", "\\t", ` +
  `'a\\b', "1e3", '0x1F', "a\\"b", "\\\\.jpg$"`
const short = [numbers, words, quoted].flatMap((each) => each.split(', '))
const long = [
  'a\n        b\n\n        c',
  '"a\n        b\\\n          c\n\n        d"',
  "'a\n        b'",
  '|\n        a\n          b\n\n        c\n',
  '|-\n        0042\n',
  '|+\n        a\n\n',
  '>\n        a\n        b\n\n        c\n          d\n        e\n',
  '>-\n\n        a\n        b\n',
]

it.each([...short, ...long])('keeps %j as it is written', (scalar) => {
  expectSame(`config:\n      b:   ${scalar}\n      a: &x ${scalar}\n`)
})

it('keeps the notation of numbers', () => {
  expect(format('vars:   {a: 0042, b: 1e3}\nc:\n    - 0x1F\n    - 3.10\n')).toBe(
    'vars: {a: 0042, b: 1e3}\nc:\n  - 0x1F\n  - 3.10\n',
  )
})

it('keeps the lines of folded text', () => {
  expect(format('a:\n    b: >-\n        one\n        two\n\n    c: "one\n     two"\n')).toBe(
    'a:\n  b: >-\n    one\n    two\n\n  c: "one\n    two"\n',
  )
})

const key = fc.constantFrom('a', 'b', '"c d"', "'e'", 'domain', 'config', 'https', 'origin', 'vars')
const scalar = fc.constantFrom(...short)
const flow = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }).map((each) => `[${each.join(',  ')}]`),
    fc
      .array(tie('value'), { minLength: 1, maxLength: 3 })
      .map((each) => `{ ${each.map((value, i) => `k${i}: ${value}`).join(', ')} }`),
  ),
})).value
const entries = fc.uniqueArray(fc.tuple(key, fc.oneof(flow, fc.constantFrom('', ...long))), {
  selector: ([name]) => name,
  minLength: 1,
  maxLength: 5,
})

itOften('keeps every scalar of a document as it is written', () => {
  fc.assert(
    fc.property(fc.array(entries, { minLength: 1, maxLength: 3 }), fc.boolean(), (maps, crlf) => {
      const texts = maps.map((map) => {
        const lines = map.map(([name, value]) => `      ${name}:   ${value}\n`).join('')
        return `top:\n${lines}list:\n  -   x\n`
      })
      expectSame(texts.join('---\n').replaceAll('\n', crlf ? '\r\n' : '\n'))
    }),
    { numRuns: runs(200, 20_000) },
  )
})
