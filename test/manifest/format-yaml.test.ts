// @module-tag nightly
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isCollection, isScalar, parseDocument, stringify, visit, type Scalar } from 'yaml'
import { formatYaml } from '../../src/manifest/yaml/format-yaml.ts'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import type { Json } from '../../src/core/model/json.ts'
import { fc, itLong, runs } from '../runs.ts'
import { createRandomYaml } from './random-yaml.ts'

const path = 'domains/a.yaml'

function format(text: string, file = path): string {
  const result = formatYaml({ path: file, text })
  if (!('text' in result))
    throw new Error(`expected a formatted text, got ${JSON.stringify(result)}`)
  return result.text
}

function parseValues(text: string): Json[] {
  const { documents, diagnostics } = parseYaml({ path, text })
  expect(diagnostics).toEqual([])
  return documents.map(({ value }) => value)
}

/** Formats; expects that values and comments stay, and that formatting is idempotent. */
function expectKept(text: string, file = path): string {
  const result = format(text, file)
  expect(parseValues(result)).toEqual(parseValues(text))
  expect(format(result, file)).toBe(result)
  const comments = (source: string) => (source.match(/#c\d+/g) ?? []).toSorted()
  expect(comments(result)).toEqual(comments(text))
  return result
}

describe('formatYaml', () => {
  it('sorts keys by the specification, with their comments', () => {
    const text = `# yaml-language-server: $schema=x
config:
    # #c1 about time
    timeout:   { time: 60 }   # #c2 beside

    # #c3 about the certificate
    https:
          http2: "on"
          cert_id:   1  # #c4
    origin: {origin_mode: https, default_master: [192.0.2.1,   192.0.2.2]}
    # #c5 last
profiles:
- a
-   b
domain: shop.example.com
`
    expect(expectKept(text)).toBe(`# yaml-language-server: $schema=x
domain: shop.example.com
profiles:
  - a
  - b
config:
  origin: {default_master: [192.0.2.1, 192.0.2.2], origin_mode: https}

  # #c3 about the certificate
  https:
    cert_id: 1 # #c4
    http2: "on"
  # #c1 about time
  timeout: {time: 60} # #c2 beside
  # #c5 last
`)
  })

  it('sorts edgewise.yaml, and the items under its defaults', () => {
    const text =
      'guards: {protect: [a], maxDomains: 3}\n' +
      'defaults: {timeout: {time: 6}, origin: {default_master: 192.0.2.1}}\nversion: 1\n' +
      'id: x\n'
    expect(expectKept(text, 'edgewise.yaml')).toBe(
      'version: 1\nid: x\n' +
        'defaults: {origin: {default_master: 192.0.2.1}, timeout: {time: 6}}\n' +
        'guards: {maxDomains: 3, protect: [a]}\n',
    )
  })

  it.each<[string, string]>([
    [
      'the order of anchors and aliases',
      'config: {timeout: {time: &t "60"}}\nvars: {a: *t}\ndomain: a.example.com # #c1\n',
    ],
    [
      'anchors and aliases',
      'vars: {a: &a x}\nconfig: {timeout: {time: *a}}\ndomain: a.example.com # #c1\n',
    ],
    [
      'a merge key, which is an ordinary key',
      'config: &c\n    timeout: {time: 6}\nvars: {"<<": a}\ndomain: a.example.com\n',
    ],
    [
      'several documents',
      '# #c1\nconfig: {}\ndomain: a.example.com\n---\n# #c2\ndomain: b.example.com\n...\n' +
        '---\n{domain: c.example.com}\n',
    ],
    [
      'an empty document between others',
      '---\n# #c1\n---\ndomain: b.example.com\n# #c2\n...\n# #c3\n',
    ],
    [
      'block texts',
      'config:\n   extend:\n      squid: |2-\n          set in\n\n        out\n' +
        '   user_agent: {ua_list: x}\ndomain: a\n',
    ],
    [
      'folded texts',
      'vars:\n  a: >\n    one\n    two\n\n    three\n  b: >-\n      x\n       y\n  c: |+\n' +
        '    kept\n\n\ndomain: a\n',
    ],
    [
      'quoted texts with line ends',
      "vars: {a: \"x\\r\\ny and a long text that goes on and on and on\", b: 'it''s',\n" +
        '  c: "\\u202e"}\ndomain: a\n',
    ],
    ['plain texts over several lines', 'vars:\n  a: one\n    two\n    three\ndomain: a\n'],
    [
      'null, numbers and words',
      'vars: {a: ~, b: 0x1F, c: 0o17, d: 1e3, e: 1.50, f: yes, g: True, h: "1", i: -0, j: +5}\n' +
        'domain: a\n',
    ],
    ['explicit keys', '? domain\n: a\n? "config"\n: {}\n'],
    ['tabs and blanks at line ends', 'domain: a \t\nconfig:  \n  timeout: {time:\t6}  \t# #c1\n'],
    ['nothing but comments', '# #c1\n\n# #c2\n'],
    ['an empty file', ''],
    ['no final line end', 'config: {}\ndomain: a'],
    [
      'unknown keys, after the known ones',
      'z: 1\nconfig: {nonsense: 1, timeout: {z: 1, time: 6}}\na: 2\ndomain: a\n',
    ],
    ['a list instead of a mapping', '- 1\n- {b: 1, a: 2}\n'],
    ['a separate header', '# #c1 header\n\n# #c2 about config\nconfig: {}\ndomain: a # #c3\n'],
  ])('keeps %s', (_what, text) => {
    expectKept(text)
    expectKept(text.replaceAll('\n', '\r\n'))
  })

  it('uses the first line end for all lines', () => {
    expect(format('config: {}\r\ndomain: a\r\n')).toBe('domain: a\r\nconfig: {}\r\n')
    expect(format('config: {}\ndomain: a\r\n')).toBe('domain: a\nconfig: {}\n')
  })

  it('drops the blank line above a key that becomes the first', () => {
    expect(format('config:\n  timeout: {time: 60}\n\n  origin: {default_master: a.b}\n')).toBe(
      'config:\n  origin: {default_master: a.b}\n  timeout: {time: 60}\n',
    )
  })

  it('leaves a file unchanged if its values would change', () => {
    expect(formatYaml({ path, text: 'vars:\n  a: >- # c\n     \ndomain: a\n' })).toEqual({
      unchanged: 'formatting it would change its values',
    })
  })

  it('leaves a file unchanged that is not valid between two rounds', () => {
    expect(formatYaml({ path, text: '--- #\rc\nc d0:\n  c d1: x\n' })).toEqual({
      unchanged: 'formatting does not settle',
    })
  })

  itLong('returns a result for any text', () => {
    fc.assert(
      fc.property(fc.nat().map(createRandomYaml), (text) => {
        expect(Object.keys(formatYaml({ path, text }))).toHaveLength(1)
      }),
      { numRuns: runs(40, 5_000) },
    )
  })

  it.each([
    'domain: [',
    'a: 1\na: 2\n',
    'domain: *none\n',
    '\tdomain: a\n',
    'a: !!binary x\n',
    '['.repeat(500),
    '__proto__: 1\n',
  ])('leaves invalid YAML unchanged: %j', (text) => {
    expect(formatYaml({ path, text })).toMatchObject({
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ severity: 'error', file: path }),
      ]) as unknown,
    })
  })

  itLong('keeps values and comments of any file, and settles', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const result = formatYaml({ path, text })
        if ('text' in result) expectKept(text)
        else expect(result).toHaveProperty('unchanged')
      }),
      { numRuns: runs(15, 600) },
    )
  })

  itLong('fails to format only few of the oddest files', () => {
    const sample = fc.sample(texts, runs(15, 600))
    const left = sample.filter((text) => !('text' in formatYaml({ path, text })))
    expect(left.length).toBeLessThan(sample.length / 30)
  })
})

describe('the examples', () => {
  const root = fileURLToPath(new URL('../../examples/', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(edgewise|domains|profiles).*\.yaml$/.test(name),
  )
  it.each(files)('are formatted: %s', (name) => {
    const text = readFileSync(root + name, 'utf8')
    expect(format(text, name.replace(/^[^/]+\//, ''))).toBe(text)
  })
})

const names = [
  'domain',
  'config',
  'vars',
  'profiles',
  'timeout',
  'https',
  'origin',
  'cert_id',
  'time',
  'x',
  'y z',
  '1',
  'null',
  '#',
]
const plain: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    17,
    -3,
    1.5,
    'on',
    'yes',
    '',
    ' ',
    'a: b',
    '- x',
    '# y',
    '* z',
    '&a',
    '{x}',
    '@t',
    '%',
    '|',
    "it's",
    '"',
    '\\',
    'a\nb\n',
    'a\r\nb',
    '\n\n',
    'x  ',
    '  x\n y',
    '1',
    '0x1',
    '~',
    'ü\u{1f600}',
  ),
  fc.string({ maxLength: 12 }),
)
const value: fc.Arbitrary<Json> = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    plain,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 5 }),
  ),
})).node
const root = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 6 })
const styles: Scalar.Type[] = [
  'PLAIN',
  'QUOTE_DOUBLE',
  'QUOTE_SINGLE',
  'BLOCK_LITERAL',
  'BLOCK_FOLDED',
]

/**
 * Files of documents in any style: `picks` choose indentation, flow, quotes, comments and blank
 * lines.
 */
const texts = fc
  .tuple(
    fc.array(root, { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(59), { minLength: 40, maxLength: 40 }),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([roots, picks, lineEnd]) => {
    let position = 0
    const pick = () => picks[position++ % picks.length] ?? 0
    const written = roots.map((each) => {
      const document = parseDocument(stringify(each))
      visit(document, {
        Node: (key, node) => {
          const chance = pick()
          if (chance < 6 && key !== 'value') node.commentBefore = ` #c${position}`
          else if (chance < 9 && isScalar(node)) node.comment = ` #c${position}`
          else if (chance < 14) node.spaceBefore = true
          if (isScalar(node) && typeof node.value === 'string')
            node.type = styles[chance % styles.length] ?? 'PLAIN'
          if (isCollection(node) && chance > 45) node.flow = true
        },
      })
      const options = {
        indent: 1 + (pick() % 6),
        lineWidth: pick() < 30 ? 0 : 20 + pick(),
        indentSeq: pick() < 30,
      }
      return document.toString(options)
    })
    return written.join('---\n').replaceAll('\n', lineEnd)
  })
  .filter((text) => parseYaml({ path, text }).diagnostics.length === 0)
