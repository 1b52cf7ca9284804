import { describe, expect, it } from 'vitest'
import { parsePlainYaml } from '../../src/manifest/yaml/parse-plain-yaml.ts'
import { parseAnyYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'
import { createRandomYaml, editedYaml, pieces } from './random-yaml.ts'

/** Compares a text's values with those of the parser that reports diagnostics. */
function expectSameOrNone(text: string): void {
  const values = parsePlainYaml(text)
  if (values === null) return
  const { documents, diagnostics } = parseAnyYaml({ path: 'a.yaml', text })
  expect(diagnostics, text).toEqual([])
  // The text of JSON also compares the order of keys.
  const parsed = JSON.stringify(values.map((value, index) => [index, value]))
  expect(parsed, text).toBe(JSON.stringify(documents.map(({ index, value }) => [index, value])))
}

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', ' a', ' 1', ' 1.5', ' "q"', " 's'", ' 10.0.0.1') },
  fc.constantFrom(...pieces).map((piece) => ` ${piece}`),
  fc.constantFrom(' [a, b]', ' {a: 1}', ' [a,\n    b]', ' [a: b]', ' {a}', ' {"a":1}', ' [{}, []]'),
)
/** Lines of keys, entries and anything else, with any indentation. */
const composed = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('', '', '  ', '  ', '    ', ' '),
        fc.constantFrom('', '- ', '- - '),
        fc.constantFrom('', 'a:', 'b:', 'c:', '"d":', 'e f:'),
        value,
        fc.constantFrom('', '', '', ' # c', '#c'),
      )
      .map((parts) => parts.join('')),
    { minLength: 1, maxLength: 7 },
  )
  .map((each) => `${each.join('\n')}\n`)

describe('parsePlainYaml', () => {
  it.each([
    ['a: 1\nb:\n  c: [x, 2, -3, 0, 1.5]\n', [{ a: 1, b: { c: ['x', 2, -3, 0, 1.5] } }]],
    [
      'a: [yes, off, true, false, null, ~, 2026-01-01, 10.0.0.1, 1.2.3, -x]',
      [{ a: ['yes', 'off', true, false, null, null, '2026-01-01', '10.0.0.1', '1.2.3', '-x'] }],
    ],
    ['z: 1\na: ~\n"2": x\n"1": y\n', [{ '1': 'y', '2': 'x', z: 1, a: null }]],
    [
      'a: "${secret:X}" # c\nb: \'it\'\'s\'\nc: "1"\nd: ${domain}\n',
      [{ a: '${secret:X}', b: "it's", c: '1', d: '${domain}' }],
    ],
    ['---\na: 1\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    [
      '# a comment\na: {b: {c: d}}\nl:\n- é\n- x: 1\n  y: 2\n',
      [{ a: { b: { c: 'd' } }, l: ['é', { x: 1, y: 2 }] }],
    ],
  ])('parses %j', (text, values) => {
    expect(JSON.stringify(parsePlainYaml(text))).toBe(JSON.stringify(values))
    expectSameOrNone(text)
  })

  it.each(
    [
      ['', '# nothing\n', '---\n', '---\n---\na: 1\n', 'a: 1\n---\n', 'text', '[a]', 'null'],
      ['a: &x 1\nb: *x\n', '&x a: 1\n', 'a: !!str 1\n', '!x\na: 1\n', '<<: {a: 1}\n', 'a: *x\n'],
      [
        '%YAML 1.1\n---\na: 1\n',
        '--- a: 1\n',
        ' ---\na: 1\n',
        'a: 1\n...\n',
        '? a\n: 1\n',
        ' a: 1\n',
      ],
      ['a:\n', 'a: {b: }\n', 'a: {b}\n', 'a:\n  b:\n  c: 1\n'],
      ['a:\tb\n', 'a: b\r\n', '\ufeffa: 1\n', 'a: b\u2028c\n', 'a: \u0085\n', 'a: b\u00a0c\n'],
      ['a: "\u0007"\n', 'a: "\\ud800"\n', 'a: "\\x41"\n', 'a: "\\\n  b"\n', 'a: "b\n  c"\n'],
      ['a: b\n  c\n', 'a: |\n  b\n', 'a: >-\n  b\n', 'a: |2\n    b\n', "a: 'b\n\n  c'\n"],
      [
        '0x1f',
        '0o17',
        '017',
        '00',
        '+1',
        '-0',
        '-0.0',
        '3.10',
        '1.0',
        '0042',
        '1.',
        '.5',
        '1e3',
        '1e999',
        '.inf',
      ],
      ['-.Inf', '.NaN', '9007199254740993', '12345678901234567890', 'Null', 'TRUE', 'False'],
      [
        '1: a\n',
        'true: a\n',
        'null: a\n',
        '~: a\n',
        ': a\n',
        '[a]: b\n',
        '{a: b}: c\n',
        '1.5: a\n',
      ],
      [
        'a: 1\na: 2\n',
        '{a: 1, "a": 2}',
        '__proto__: 1\n',
        'a: {constructor: 1}\n',
        'toString: 1\n',
      ],
      ['a:b\n', '{a:b}\n', '{a:1, b: 2}\n', 'http://x: 1\n'],
      ['a: ${secret:X}}\nb: {c: ${secret:X}}\n', 'a: [${domain}]\n', 'a: b: c\n', 'a: b\n c: d\n'],
      // Comments within values, which "yaml" refuses or reads as text.
      ['a:\n\n# c\n    b\n', 'a:\n# c\n  [b]\n', 'a:\n  -\n\n# c\n    b\n', 'a:\n-\n  b\n'],
      ['a: { b # c\n  :d }\n', 'a: {b # c\n  : d}\n', 'a: {"b"\n  # c\n  : d}\n'],
      ['a:\n- {}b:\n- {}\n', 'a: {\n# c\nb: 1\n  }\n', 'a: {b: c\n# d\n  }\n', 'a: "b"#c\n'],
      [`a: ${'['.repeat(70)}${']'.repeat(70)}\n`, 'a: [\n  b\n]\n', 'a: [b\n', 'a: }\n', 'a: @b\n'],
    ]
      .flat()
      .map((text) => (/^[-+.\dNTF][^ \n]*$/.test(text) ? `a: ${text}\n` : text)),
  )('leaves %j to the other parser', (text) => expect(parsePlainYaml(text)).toBeNull())

  it('leaves a key that is too long to the other parser', () => {
    expect(parsePlainYaml(`${'k'.repeat(1_025)}: 1\n`)).toBeNull()
  })

  it('builds plain objects and lists', () => {
    const [parsed] = parsePlainYaml('a: {b: [1]}\n') ?? []
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(parsed).toStrictEqual({ a: { b: [1] } })
  })

  itLong('parses edited manifests like the other parser, or not at all', () => {
    fc.assert(fc.property(editedYaml, expectSameOrNone), { numRuns: runs(200, 5_000) })
  })

  itOften('parses texts with comments everywhere like the other parser, or not at all', () => {
    const seeds = fc.nat().map(createRandomYaml)
    fc.assert(fc.property(seeds, expectSameOrNone), { numRuns: runs(300, 30_000) })
  })

  itOften('parses any lines like the other parser, or not at all', () => {
    fc.assert(fc.property(composed, expectSameOrNone), { numRuns: runs(200, 20_000) })
  })
})
