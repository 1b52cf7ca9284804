import { readdirSync, readFileSync } from 'node:fs'
import { fc } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'

/**
 * Builds a text of YAML, most often a valid one: mappings and lists in both styles, over several
 * lines, with comments in every column, then sometimes a wrong character. Equal numbers give equal
 * texts.
 */
export function createRandomYaml(seed: number): string {
  return new Writer(new Chance(String(seed))).write()
}

class Writer {
  readonly #chance: Chance
  /** Share of odd parts; one of them often makes a text invalid. */
  readonly #oddness: number
  #keys = 0

  constructor(chance: Chance) {
    this.#chance = chance
    this.#oddness = chance.pick([0.01, 0.03, 0.1, 0.25])
  }

  write(): string {
    const start = this.#ifOdd('---\n', '--- # c\n', '...\n', '# c\n---\n')
    const text = start + this.#block(0, '') + (this.#isOdd() ? `---\n${this.#block(0, '')}` : '')
    if (!this.#isOdd()) return text
    const at = this.#chance.between(0, text.length)
    return (
      text.slice(0, at) + this.#chance.pick(strays) + text.slice(at + this.#chance.between(0, 1))
    )
  }

  #block(depth: number, indent: string): string {
    const isList = depth > 0 && this.#chance.happens(0.3)
    return this.#several(() => {
      const start = this.#isOdd() ? this.#pick('', ' ', `${indent} `, '# c\n') : indent
      const mark = start + (isList ? '-' : `${this.#key()}${this.#ifOdd(' ')}:`)
      const kind = depth > 3 ? 1 : this.#chance.draw()
      const deeper = indent + this.#pick('  ', '  ', '')
      if (kind < 0.3) return `${mark}${this.#comment()}\n${this.#block(depth + 1, deeper)}`
      const next = `${this.#comment()}\n${indent}${this.#pick('  ', '    ', '', ' ')}`
      const gap = this.#isOdd() ? this.#pick('', next, next) : ' '
      const value = kind > 0.6 ? this.#flow(0, `${indent}  `) : this.#scalar()
      return `${mark}${gap}${value}${this.#comment()}\n`
    }).join('')
  }

  #flow(depth: number, indent: string): string {
    const kind = depth > 2 ? 1 : this.#chance.draw()
    if (kind > 0.5) return this.#scalar()
    const parts = this.#several(() => {
      const value = this.#flow(depth + 1, `${indent}  `)
      const before = this.#isOdd() ? this.#gap(indent) : ''
      const after = this.#gap(indent) || this.#pick(' ', ' ', '')
      const part = kind > 0.25 ? value : `${this.#key()}${before}:${after}${value}`
      return `${this.#gap(indent)}${part}${this.#gap(indent)}`
    })
    const inner = parts.join(',') + this.#ifOdd(',')
    return kind > 0.25 ? `[${inner}]` : `{${inner}}`
  }

  /** Writes what is between the parts of a collection in flow style. */
  #gap(indent: string): string {
    if (this.#chance.happens(0.6)) return this.#pick('', ' ')
    const comment = this.#ifOdd('# c\n', '  # c\n', '    # c\n')
    return `${this.#comment()}\n${comment}${this.#isOdd() ? this.#pick('', ' ') : indent}`
  }

  /** Writes a comment at the end of a line, and lines without content. */
  #comment(): string {
    if (!this.#isOdd()) return ''
    const lines = this.#several(() => this.#pick('\n', '\n', '\n# c', '\n  # c', '\n#', '\n    '))
    return (
      this.#pick(' # c', '#c', ' #', '  # "c', ' # a: [', '', '') + this.#pick('', lines.join(''))
    )
  }

  #scalar(): string {
    return this.#isOdd()
      ? this.#chance.pick(oddScalars)
      : this.#pick('a', '1', 'true', '"q"', "'s'", 'x y', '10.0.0.1', '2.5')
  }

  #key(): string {
    if (this.#isOdd()) return this.#chance.pick(oddKeys)
    const name = `k${this.#keys++}`
    return this.#pick(name, `"${name}"`, `'${name}'`, `a ${name}`)
  }

  #several(build: () => string): string[] {
    return Array.from({ length: this.#chance.between(1, 3) }, build)
  }

  #isOdd(): boolean {
    return this.#chance.happens(this.#oddness)
  }

  #ifOdd(...texts: string[]): string {
    return this.#isOdd() ? this.#pick(...texts) : ''
  }

  #pick(...texts: string[]): string {
    return this.#chance.pick(texts)
  }
}

const oddScalars = [
  ['', '~', '"a\n  b"', '"a\n# c\n  b"', "'a\n\n  b'", 'a\n  b', 'a\n    b # c', 'x:y', '-1', '-z'],
  ['|\n    b', '>-\n    b', '|2\n    b', 'a#b', '#c', '${x}', '"${x}"', '0x1', '1e3', '"\\n"'],
  ['&a b', '*a', '!t', '{}', '[]', 'a: b', '- x', '? x', '@', '"', "'", '"a" b', '%d', '---'],
].flat()
const oddKeys = ', 1, true, ? a, "a" , a#b, "a\n  b", a\n  b, {x: y}, [x], a:b'.split(', ')
const strays = [
  ' \n#:,[]{}"\'-\t\r&*!|>%\u0085'.split(''),
  ['\r\n', '\n#', '\n# c\n', ' #', ': ', '- ', '\n ', '\n  ', '---\n', '...\n'],
].flat()

const examples = new URL('../../examples/', import.meta.url)
const files = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.yaml'))
  .map((path) => readFileSync(new URL(path, examples), 'utf8'))
const texts = [
  ...files.filter((text) => text.length < 4_000),
  '---\n# two documents\ndomain: a.example.com\nconfig: {}\n---\nprofile: p\nvars: {a: 1}\n',
  'domains: [a.example.com,\n  b.example.com]\nconfig:\n  a: {b: "c", d: [1, -2.5, null]}\n',
  "config:\n  list:\n  - {a: b}\n  -   c: 'it''s'\n      d: \"x\\\"y\"\n  - - e\n    - f\n",
  'config:\n  long:\n    [\n      one,\n      {two: 2},\n    ]\n  "quoted key": ${domain}\n',
]
const lines = texts.flatMap((text) => text.split('\n'))

/** Texts that are special in YAML, alone or beside others. */
export const pieces = [
  ' \n:-#{}[],"\'?&*!|>%@`~\\/.$=+_09axXeEoOnNtT\t\r'.split(''),
  ['\u00a0', '\u2028', '\ufeff', '\u0085', 'é', '😀', '\u0007', '---\n', '...\n', '  ', '- '],
  [': ', ' #', '#c\n', '\n\n', '\n# c\n', '${', '<<: ', '0x1f', '0o17', '1e999', '-0', '1_0'],
  ['null', 'Null', 'true', '.inf', '.NaN', '""', "''", '{}', '[]', '? ', '|\n', '>-\n', '|2\n'],
  ['\\u0041', '\\x41', '\\\n', 'a: b: c', '__proto__', '__proto__: ', 'constructor: ', '!!str '],
  ['${domain}', '${var:x}', '${secret:s}', '{$append: [1]}', '{$unset: true}', '{$secret: x}'],
  ['domains:', 'profiles: [p, q]', 'vars: {x: 1}', 'config:', '%YAML 1.2\n', '\u0000', '\ud800'],
  ['&a ', '*a', '\n ', '\n  ', '\n    ', ',\n', '[\n', '{\n', ']\n', '}\n', '"a": ', '{a: b}: '],
].flat()

interface Edit {
  /** Where the edit is in the text, from 0 to 1. */
  at: number
  removed: number
  added: string
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat({ max: 3 }),
  added: fc.oneof(fc.constant(''), fc.constantFrom(...pieces), fc.constantFrom(...lines)),
})

function applyEdit(text: string, { at, removed, added }: Edit): string {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + added + text.slice(start + removed)
}

/** Manifests and profiles with one to four edits, most often invalid ones. */
export const editedYaml = fc
  .tuple(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([text, edits]) => edits.reduce(applyEdit, text))
