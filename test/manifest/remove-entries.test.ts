import { describe, expect, it } from 'vitest'
import { fc, itLong } from '../runs.ts'
import { removeEntries } from '../../src/manifest/yaml/remove-entries.ts'
import { parseAnyYaml } from '../../src/manifest/yaml/yaml-file.ts'

const remove = (text: string, ...pointers: string[]) =>
  removeEntries(
    { path: 'domains/a.yaml', text },
    pointers.map((each) => {
      const [document = '', pointer = '', own = null] = each.split(' ')
      return { document: Number(document), pointer, text: own }
    }),
  )

describe('removeEntries', () => {
  it('removes entries in lines, and keeps comments and layout', () => {
    const text =
      'config:\n    cache_rule:   # rules\n' +
      '    # one\n    - type: 1   # in it\n      pattern: jpg\n' +
      '      # below\n    # two\n    - {type: 1,   pattern: png}  # behind\n\n' +
      '    - type:  1\n      pattern: >-\n        css\n    timeout: {time: 60}\n'
    expect(remove(text, '0 /config/cache_rule/0')).toBe(
      text.replace('- type: 1   # in it\n      pattern: jpg\n', '# in it\n'),
    )
    expect(remove(text, '0 /config/cache_rule/1')).toBe(
      text.replace('- {type: 1,   pattern: png}  # behind', '# behind'),
    )
    expect(remove(text, '0 /config/cache_rule/2', '0 /config/cache_rule/0')).toBe(
      text
        .replace('- type: 1   # in it\n      pattern: jpg\n', '# in it\n')
        .replace('    - type:  1\n      pattern: >-\n        css\n', ''),
    )
  })

  it.each([
    ['[a, b, c]', [1], '[a, c]'],
    ['[a, b, c]', [0], '[b, c]'],
    ['[ a,b , c ]', [2], '[ a,b ]'],
    ['[a, b, c]', [1, 2], '[a]'],
    ['[a, b, c]', [2, 0], '[b]'],
    ['[{p: 1}, {p: 1}]', [1], '[{p: 1}]'],
    ['[\n  a,\n  "b",\n  c,\n]', [1], '[\n  a,\n  c,\n]'],
    ['[\n  a,\n  b,\n  c,\n]', [2], '[\n  a,\n  b,\n]'],
    ['[\n  a, # one\n  b\n]', [1], null],
    ['[a]', [0], '[]'],
    ['- a\n- b # x', [1], '- a\n# x\n'],
    ['- a\n- b', [1], '- a\n'],
    ['- a', [0], null],
    ['-\n  a\n- b', [0], null],
    ['- &x a\n- *x', [0], null],
    ['- &x a\n- *x', [1], '- &x a\n'],
    ['[a, b]', [7], null],
    ['{a: 1}', [0], null],
    ['5', [0], null],
  ])('of %j removes %j: %j', (list, indexes, expected) => {
    const isLines = list.startsWith('-')
    const text = isLines ? `x: &l\n${list}` : `x: ${list}\n`
    const meant = expected === null ? null : isLines ? `x: &l\n${expected}` : `x: ${expected}\n`
    expect(remove(text, ...indexes.map((i) => `0 /x/${i}`))).toBe(meant)
  })

  it.each([
    ['a,b, c', 'b', 'a, c'],
    ['a,b, a', 'a', 'a,b'],
    ['"a, b"', 'a', '"b"'],
    ["'a,b' # x", 'b', "'a' # x"],
    ['"a,\\u0062"', 'b', null],
    ['|\n  a,b', 'a', null],
    ['a,\n  b', 'a', null],
    ['a,b', 'c', null],
    ['[a, b, a]', 'a', '[a, b]'],
    ['[a, "b,c"]', 'c', null],
    ['5', '5', null],
  ])('of %j removes "%s": %j', (list, entry, expected) => {
    const meant = expected === null ? null : `x: ${expected}\n`
    expect(remove(`x: ${list}\n`, `0 /x ${entry}`)).toBe(meant)
  })

  it('removes an entry at an index only if it has the text', () => {
    expect(remove('x: [a, "b,b"]\n', '0 /x/1 b,b')).toBe('x: [a]\n')
    expect(remove('x: [a, b]\n', '0 /x/1 a')).toBeNull()
  })

  it('removes entries of lists within lists', () => {
    const text = 'x:\n- {p: "a,a", q: [1, 1]}\n- {p: a}\n- {p: "b,b"}\n'
    expect(remove(text, '0 /x/1', '0 /x/2/p b', '0 /x/0/q/1', '0 /x/1/p a')).toBe(
      'x:\n- {p: "a,a", q: [1]}\n- {p: "b"}\n',
    )
  })

  it('edits the document that is meant, with its line ends', () => {
    const text = '# a\r\n---\r\nx:\r\n- a\r\n- a # b\r\n---\r\nx:\r\n- a\r\n- a\r\n'
    expect(remove(text, '1 /x/0')).toBe(text.replace(/- a\r\n- a\r\n$/, '- a\r\n'))
    expect(remove(text, '0 /x/1', '1 /x/1')).toBe(
      '# a\r\n---\r\nx:\r\n- a\r\n# b\r\n---\r\nx:\r\n- a\r\n',
    )
  })

  it('leaves a list that is shared', () => {
    const text = 'x: &l [a, a]\ny: *l\n'
    expect(remove(text, '0 /y/1')).toBeNull()
    expect(remove(text, '0 /x/1')).toBeNull()
  })

  itLong('never loses a comment or another value', () => {
    const comment = fc.constantFrom('', ' # c', '  #x')
    const entry = fc.tuple(fc.constantFrom('a', '"b"', '{p: 1}', 'k: 1'), comment)
    const lists = fc.tuple(fc.array(entry, { minLength: 2, maxLength: 6 }), fc.boolean(), fc.nat(5))
    fc.assert(
      fc.property(lists, ([entries, isLines, index]) => {
        const list = isLines
          ? `\n${entries.map(([each, end]) => `  - ${each}${end}\n`).join('')}`
          : ` [\n${entries.map(([each, end]) => `  ${each},${end}\n`).join('')}]\n`
        const text = `# head\nx:${list}y: 1 # end\n`
        const edited = remove(text, `0 /x/${index}`)
        if (edited === null) return
        const [before] = parseAnyYaml({ path: 'a', text }).documents
        const [after] = parseAnyYaml({ path: 'a', text: edited }).documents
        const { x, ...rest } = (before?.value ?? {}) as { x: unknown[] }
        expect(after?.value).toEqual({ ...rest, x: x.filter((_, i) => i !== index) })
        expect(edited.match(/#.*/g)).toEqual(text.match(/#.*/g))
      }),
    )
  })
})
