import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/manifest/yaml-file.ts'
import { findPlace } from '../../src/manifest/yaml-place.ts'

const read = (text: string) => parseYaml({ path: 'a.yaml', text })
const values = (text: string) => read(text).documents.map(({ value }) => value)
const faults = (text: string) =>
  read(text).diagnostics.map(({ line, column, detail }) => `${line}:${column} ${detail}`)

describe('readYaml', () => {
  it('reads YAML 1.2: yes, no, on and off are strings', () => {
    expect(values('a: [yes, no, on, off, y, true, 0x10, 017, 1.5, -0, ~, 2026-01-01]')).toEqual([
      { a: ['yes', 'no', 'on', 'off', 'y', true, 16, 17, 1.5, 0, null, '2026-01-01'] },
    ])
  })

  it('leaves empty files and documents out, and keeps the number of the others', () => {
    expect(read('')).toEqual({ documents: [], diagnostics: [] })
    expect(read('# nothing\n')).toEqual({ documents: [], diagnostics: [] })
    expect(read('---\n---\na: 1\n').documents.map(({ index, value }) => [index, value])).toEqual([
      [1, { a: 1 }],
    ])
  })

  it('keeps the whole documents of a file with a broken one', () => {
    const { documents, diagnostics } = read('a: 1\n---\nb: [1\n---\nc: 3\n')
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { c: 3 }])
    expect(diagnostics.every(({ document }) => document === 1)).toBe(true)
  })

  it.each([
    ['a:\n\tb: 1', '2:1 expected spaces as indentation, got a tab. Replace it by spaces.'],
    ['a: 1\nb: 2\na: 3', '3:1 the key "a" stands twice in this mapping. Keep one of them.'],
    ['a: *x', '1:4 the alias "*x" has no anchor "&x" above it'],
    ['a: &x [*x]', '1:8 the alias "*x" stands inside what it refers to'],
    [
      'a: !foo 1',
      '1:4 Unresolved tag: !foo. Leave tags ("!…") out; put quotes around text that begins with "!".',
    ],
    ['a: !!binary aGk=', '1:13 expected a plain value, got one with a tag of its own'],
    ['%YAML 1.9\n---\na: 1', '1:7 Unsupported YAML version 1.9'],
    ['404: a', '1:1 expected a string as key, got 404. Put quotes around it.'],
    ['? [a]\n: 1', '1:3 expected a string as key, got a value that is none. Put quotes around it.'],
    ['__proto__: 1', '1:1 "__proto__" can\'t be a key'],
    ['a: {constructor: 1}', '1:5 "constructor" can\'t be a key'],
    ['a: {toString: 1}', '1:5 "toString" can\'t be a key'],
    ['a: .inf', '1:4 expected a finite number, got Infinity. Put quotes around it if it is text.'],
    ['a: 1e999', '1:4 expected a finite number, got Infinity. Put quotes around it if it is text.'],
    ['a: .NaN', '1:4 expected a finite number, got NaN. Put quotes around it if it is text.'],
    [
      'a: 9007199254740993',
      '1:4 expected a number that is kept exactly, got one beyond 9007199254740991. Put quotes around it if it is text.',
    ],
    ['a: "\\ud800"', '1:4 expected Unicode text, got half a surrogate pair'],
    [
      `a: ${'['.repeat(70)}${']'.repeat(70)}`,
      '1:67 expected at most 64 levels of nesting, got more',
    ],
  ])('refuses %j', (text, fault) => {
    expect(faults(text)).toEqual([fault])
  })

  it('follows aliases, each to the anchor above it', () => {
    expect(values('a: &x 1\nb: *x\nc: &x {d: 2}\ne: *x')).toEqual([
      { a: 1, b: 1, c: { d: 2 }, e: { d: 2 } },
    ])
    expect(values('<<: {a: 1}')).toEqual([{ '<<': { a: 1 } }])
  })

  it('stops aliases that multiply', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`,
    )
    expect(read(['l0: &l0 x', ...levels].join('\n')).diagnostics.length).toBeGreaterThan(0)
  })

  it('survives deep nesting and huge mappings in a bounded time', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{a: ', '}'],
      ['- ', ''],
      ['? ', ''],
    ] as const)
      expect(read(open.repeat(20_000) + close.repeat(20_000)).documents).toEqual([])
    expect(values(Array.from({ length: 20_000 }, (_, i) => `k${i}: ${i}`).join('\n'))).toHaveLength(
      1,
    )
  })

  it('shows at most twenty problems of a file, and no text that the parser quotes', () => {
    expect(
      read(Array.from({ length: 500 }, (_, i) => `${i}: 1`).join('\n')).diagnostics,
    ).toHaveLength(20)
    expect(JSON.stringify(read('- a\nkey: hunter2').diagnostics)).not.toContain('hunter2')
  })
})

describe('placeIn', () => {
  const text =
    'domain: a.example.com\nconfig:\n  https: {cert_id: 1, "http2": on}\n  list:\n    - x: 1\n      y: |\n        text\n    - 😀: é\nempty:\nbase: &b {deep: 5}\nalias: *b\n'
  const document = read(text).documents[0]
  if (document === undefined) throw new TypeError('expected a document')
  const spot = (pointer: string, part?: 'key') => {
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
    expect(spot(pointer)).toBe(place)
  })

  it('finds keys', () => {
    expect(spot('/config/https/http2', 'key')).toBe('3:23-3:30')
    expect(spot('/domain', 'key')).toBe('1:1-1:7')
  })

  it('counts lines that end in CR LF', () => {
    const windows = read('a: 1\r\nb:\r\n  c: x\r\n').documents[0]
    expect(windows === undefined ? null : findPlace(windows, '/b/c')).toEqual({
      file: 'a.yaml',
      line: 3,
      column: 6,
      endLine: 3,
      endColumn: 7,
    })
  })
})
