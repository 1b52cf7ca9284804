// @module-tag often
import { expect, it } from 'vitest'
import { findYamlExcess } from '../../src/manifest/yaml/yaml-text.ts'
import { findPlace } from '../../src/manifest/yaml/yaml-place.ts'
import { parseAnyYaml, parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { fc, itOften, runs } from '../runs.ts'

const deep = 'expected at most 64 levels of nesting, got more'
const lines = (count: number, build: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => build(i)).join('')

it.each([
  ['[', (n: number) => '['.repeat(n)],
  ['{a: ', (n: number) => '{a: '.repeat(n)],
  ['- ', (n: number) => '- '.repeat(n)],
  ['? ', (n: number) => '? '.repeat(n)],
  ['? - ', (n: number) => '? - '.repeat(n)],
  ['- !a &b ', (n: number) => '- !a &b '.repeat(n)],
  [': ', (n: number) => ': '.repeat(n)],
  ['[ in lines', (n: number) => '[\n'.repeat(n)],
  ['mappings of lines', (n: number) => lines(n, (i) => `${' '.repeat(i)}a:\n`)],
  ['lists of lines', (n: number) => lines(n, (i) => `${' '.repeat(i)}-\n`)],
  ['[ after a text with brackets', (n: number) => `a: "]]]" # ]]]\nb: ${'['.repeat(n)}`],
  ['[ after a block text', (n: number) => `a: |\n  ]]]\nb: ${'['.repeat(n)}`],
])('nesting by %s is found before parsing', (_name, build) => {
  expect(findYamlExcess(build(3000))?.detail).toBe(deep)
})

const many = '['.repeat(1000)

it.each([
  lines(64, (i) => `${' '.repeat(i)}a:\n`),
  `${'- '.repeat(64)}a`,
  `${'['.repeat(64)}${']'.repeat(64)}`,
  `a: "${many}"\nb: '${many}'\nc: |\n  ${many}\nd: x${many}\n# ${many}`,
  lines(1000, (i) => `- k${i}: [{a: [b]}]\n`),
  lines(1000, () => 'a:\n  - b:\n      - c\n---\n'),
  `${lines(60, (i) => `${' '.repeat(i)}a:\n`)}[b]: [[[[c]]]]\n`,
])('what is not nested too deep passes', (text) => {
  expect(findYamlExcess(text)).toBeNull()
})

const tree = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'large', withCrossShrink: true },
    fc.constantFrom('a', '"["', '1', '{}', '*a'),
    fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
    fc.record({ k: tie('node'), l: tie('node') }, { requiredKeys: ['k'] }),
  ),
})).node

itOften('the levels of a value are counted as the parser nests them', () => {
  const measure = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : 1 + Math.max(0, ...Object.values(value).map(measure))
  fc.assert(
    fc.property(tree, fc.nat(70), (value, more) => {
      const wrapped = Array.from({ length: more }).reduce<unknown>((inner) => [inner], value)
      const text = JSON.stringify(wrapped)
      expect(findYamlExcess(text) === null).toBe(measure(wrapped) <= 64)
    }),
    { numRuns: runs(50, 3000) },
  )
})

it('a text of more than 64 KiB is refused with its place, as a key and in every style', () => {
  const long = 'é'.repeat(33_000)
  const at = (text: string) =>
    parseAnyYaml({ path: 'a.yaml', text }).diagnostics.map(
      ({ line, column, detail }) => `${line}:${column} ${detail}`,
    )
  const detail = 'expected a text of at most 64 KiB, got 65 KiB. Shorten it.'
  expect(at(`a: 1\nb: ${long}`)).toEqual([`2:4 ${detail}`])
  expect(at(`a: 1\nb: "${long}"`)).toEqual([`2:4 ${detail}`])
  expect(at(`a: 1\nb: |\n  ${long}\n`)).toEqual([`2:4 ${detail}`])
  expect(at(`{"a": 1, "${long}": 2}`)).toContain(`1:10 ${detail}`)
  expect(at(`a: ${'x'.repeat(65_536)}`)).toEqual([])
})

it('more marks than a tree has room for are refused', () => {
  const { diagnostics } = parseAnyYaml({ path: 'a.yaml', text: `a: [${'[],'.repeat(200_000)}]` })
  expect(diagnostics).toMatchObject([{ code: 'yaml-invalid', line: 1 }])
  expect(diagnostics[0]?.detail).toBe(
    'expected at most 500000 values, marks, blanks and line ends of YAML in a file, got more. ' +
      'Split the file.',
  )
})

it.each(['# comment\n---\n'])('places are found in a file of many documents', (head) => {
  const count = 40_000
  const text =
    head + lines(count, (i) => `${i === 0 ? '' : '---\n'}domain: d${i}.e.io\nconfig: {a: 1}\n`)
  const file = { path: 'a.yaml', text }
  expect(findYamlExcess(text)).not.toBeNull()
  expect(parseYaml(file).documents).toHaveLength(count)
  const before = head.split('\n').length - 1
  expect(findPlace({ file, index: 0 }, '/config/a', 'key')).toMatchObject({
    line: before + 2,
    column: 10,
  })
  expect(findPlace({ file, index: count - 1 }, '/domain')).toMatchObject({
    line: before + 3 * count - 2,
    column: 9,
  })
})
