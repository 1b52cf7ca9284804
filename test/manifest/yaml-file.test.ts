import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { findPlace } from '../../src/manifest/yaml/yaml-place.ts'
import { itLong } from '../runs.ts'

const parse = (text: string) => parseYaml({ path: 'a.yaml', text })
const values = (text: string) => parse(text).documents.map(({ value }) => value)
const faults = (text: string) =>
  parse(text).diagnostics.map(({ line, column, detail }) => `${line}:${column} ${detail}`)

describe('parseYaml', () => {
  it('parses YAML 1.2: yes, no, on and off are strings', () => {
    expect(values('a: [yes, no, on, off, y, true, 0x10, 017, 1.5, -0, ~, 2026-01-01]')).toEqual([
      { a: ['yes', 'no', 'on', 'off', 'y', true, 16, 17, 1.5, 0, null, '2026-01-01'] },
    ])
  })

  it('skips empty files and documents, and keeps the index of the others', () => {
    expect(parse('')).toMatchObject({ documents: [], diagnostics: [] })
    expect(parse('# nothing\n')).toMatchObject({ documents: [], diagnostics: [] })
    expect(parse('---\n---\na: 1\n').documents.map(({ index, value }) => [index, value])).toEqual([
      [1, { a: 1 }],
    ])
  })

  it('reports deep nesting at the same place, however much of the stack is in use', () => {
    const text = `a: ${'['.repeat(1000)}${']'.repeat(1000)}`
    const parseBelow = (calls: number): string[] =>
      calls === 0 ? faults(text) : parseBelow(calls - 1)
    expect(parseBelow(0)).toEqual(['1:67 expected at most 64 levels of nesting, got more'])
    expect(parseBelow(500)).toEqual(parseBelow(0))
  })

  it('keeps the valid documents of a file with a broken one', () => {
    const { documents, diagnostics } = parse('a: 1\n---\nb: [1\n---\nc: 3\n')
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { c: 3 }])
    expect(diagnostics.every(({ document }) => document === 1)).toBe(true)
  })

  it.each([
    ['a:\n\tb: 1', '2:1 expected spaces as indentation, got a tab. Replace it with spaces.'],
    ['a: 1\nb: 2\na: 3', '3:1 the key "a" occurs twice in this mapping. Remove one of the two.'],
    [
      'a: *x',
      '1:4 the alias "*x" has no anchor "&x" above it. Put quotes around text that begins with ' +
        '"*", such as "*.example.com".',
    ],
    ['a: &x [*x]', '1:8 the alias "*x" refers to a value that contains it'],
    [
      'a: !foo 1',
      '1:4 Unresolved tag: !foo. Remove tags ("!…"), or put quotes around text that begins ' +
        'with "!".',
    ],
    [
      'a: !!binary aGk=',
      '1:13 expected a plain value, got a value with its own tag. Remove the tag.',
    ],
    ['%YAML 1.9\n---\na: 1', '1:7 Unsupported YAML version 1.9'],
    ['404: a', '1:1 expected a string as key, got 404. Put quotes around it.'],
    ['? [a]\n: 1', '1:3 expected a string as key, got a mapping, list or alias. Use plain text.'],
    ['__proto__: 1', '1:1 "__proto__" is reserved and can\'t be a key. Use another name.'],
    ['a: {constructor: 1}', '1:5 "constructor" is reserved and can\'t be a key. Use another name.'],
    ['a: {toString: 1}', '1:5 "toString" is reserved and can\'t be a key. Use another name.'],
    ['a: .inf', '1:4 expected a finite number, got Infinity. Put quotes around it if it is text.'],
    ['a: 1e999', '1:4 expected a finite number, got Infinity. Put quotes around it if it is text.'],
    ['a: .NaN', '1:4 expected a finite number, got NaN. Put quotes around it if it is text.'],
    [
      'a: 9007199254740993',
      '1:4 expected an integer from -9007199254740991 to 9007199254740991, got one that ' +
        'would lose precision. Put quotes around it if it is text.',
    ],
    ['a: "\\ud800"', '1:4 expected Unicode text, got an unpaired surrogate'],
    [
      `a: ${'['.repeat(70)}${']'.repeat(70)}`,
      '1:67 expected at most 64 levels of nesting, got more',
    ],
    [
      'a: {b: 1, c: ${secret:x}, d: {e: 2}}',
      '1:14 expected quotes around a value with "${…}". Write "${secret:NAME}" with the quotes.',
    ],
    [
      'a:\n  - [${domain}, b]',
      '2:6 expected quotes around a value with "${…}". Write "${secret:NAME}" with the quotes.',
    ],
  ])('refuses %j', (text, fault) => {
    expect(faults(text)).toEqual([fault])
  })

  it('resolves each alias to the anchor above it', () => {
    expect(values('a: &x 1\nb: *x\nc: &x {d: 2}\ne: *x')).toEqual([
      { a: 1, b: 1, c: { d: 2 }, e: { d: 2 } },
    ])
    expect(values('"<<": {a: 1}')).toEqual([{ '<<': { a: 1 } }])
  })

  it('stops exponential growth of aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`,
    )
    expect(parse(['l0: &l0 x', ...levels].join('\n')).diagnostics.length).toBeGreaterThan(0)
  })

  itLong('handles deep nesting and huge mappings in bounded time', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{a: ', '}'],
      ['- ', ''],
      ['? ', ''],
    ] as const)
      expect(parse(open.repeat(20_000) + close.repeat(20_000)).documents).toEqual([])
    expect(values(Array.from({ length: 20_000 }, (_, i) => `k${i}: ${i}`).join('\n'))).toHaveLength(
      1,
    )
  })

  it('reports at most twenty problems of a file, without text quoted by the parser', () => {
    expect(
      parse(Array.from({ length: 500 }, (_, i) => `${i}: 1`).join('\n')).diagnostics,
    ).toHaveLength(20)
    expect(JSON.stringify(parse('- a\nkey: hunter2').diagnostics)).not.toContain('hunter2')
  })
})

describe('findPlace', () => {
  const text =
    'domain: a.example.com\nconfig:\n  https: {cert_id: 1, "http2": on}\n  list:\n' +
    '    - x: 1\n      y: |\n        text\n    - 😀: é\nempty:\nbase: &b {deep: 5}\n' +
    'alias: *b\n'
  const document = parse(text).documents[0]
  if (document === undefined) throw new TypeError('expected a document')
  const formatPlace = (pointer: string, part?: 'key') => {
    const { line, column, endLine, endColumn } = findPlace(document, pointer, part)
    return `${line}:${column}-${endLine}:${endColumn}`
  }

  it.each([
    ['/domain', '1:9-1:22'],
    ['/config/https/http2', '3:32-3:34'],
    ['/config/https', '3:3-3:8'],
    ['/config/list', '4:3-4:7'],
    ['/config/list/0', '5:7-5:11'],
    ['/config/list/0/y', '6:10-6:11'],
    ['/config/list/1/😀', '8:11-8:12'],
    ['/empty', '9:1-9:6'],
    ['/alias', '11:8-11:10'],
    ['/alias/deep', '10:17-10:18'],
    ['/config/https/no/such', '3:3-3:8'],
    ['', '1:1-1:22'],
  ])('finds %s', (pointer, place) => {
    expect(formatPlace(pointer)).toBe(place)
  })

  it('finds keys', () => {
    expect(formatPlace('/config/https/http2', 'key')).toBe('3:23-3:30')
    expect(formatPlace('/domain', 'key')).toBe('1:1-1:7')
  })

  it('counts lines with CR LF line ends', () => {
    const windows = parse('a: 1\r\nb:\r\n  c: x\r\n').documents[0]
    expect(windows === undefined ? null : findPlace(windows, '/b/c')).toEqual({
      file: 'a.yaml',
      line: 3,
      column: 6,
      endLine: 3,
      endColumn: 7,
    })
  })
})
