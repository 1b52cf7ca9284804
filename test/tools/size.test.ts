import { expect, it } from 'vitest'
import { countTokens, findExcess, lowerCeilings, measure } from '../../tools/size.ts'

it.each([
  ['', 0],
  ['const total = a1 + 20', 6],
  ['a ?? b ?? [...c] !== d?.e', 12],
  ['// nothing here\nx /* nor\nhere */', 1],
  ["''", 1],
  ["'12345678'", 1],
  ["'123456789'", 2],
  ['`ten ${characters} of a template`', 4],
  ["'an escaped \\' quote'", 3],
  ['"https://www.example.com/"', 3],
  ['{"key": [1, 2]}', 9],
  ['.wide { width: 100px }', 7],
  ['select größe from "table"', 4],
])('the tokens of %j are %i', (source, count) => {
  expect(countTokens(source)).toBe(count)
})

const files: Record<string, string> = {
  'src/index.ts': 'a b c',
  'src/core/plan/plan.ts': 'a b',
  'src/core/diff/diff.ts': 'a',
  'src/core/model/generated/types.ts': 'a b',
  'test/plan/plan.test.ts': 'a b c d',
  'test/report/golden/plan.txt': 'größe',
  'tools/build.ts': 'a',
  'editors/vscode/extension.mts': 'a b',
  'editors/vscode/README.md': 'of the editor',
}
const sizes = measure(Object.keys(files), (path) => files[path] ?? '')

it('rooms are counted by token, other files by byte', () => {
  expect(sizes).toEqual({
    src: 6,
    'src/index.ts': 3,
    'src/core': 3,
    tests: 4,
    tools: 1,
    editors: 2,
    'bytes of generated code': 3,
    'bytes of golden files': 7,
  })
})

it('no figure may exceed its ceiling, nor be without one, nor a ceiling without a figure', () => {
  expect(findExcess(sizes, sizes)).toEqual([])
  expect(findExcess(sizes, { ...sizes, src: 5, tests: 3 })).toEqual([
    'src: 6, of at most 5: say it in fewer places',
    'tests: 4, of at most 3: say it in fewer places',
  ])
  expect(findExcess({ ...sizes, 'src/new': 1 }, { ...sizes, 'src/old': 1 })).toEqual([
    'src/new has no ceiling: take it from other rooms',
    'src/old is gone: remove its ceiling from tools/size.json',
  ])
})

it('ceilings fall to the next 1 %, those of all of src to the figure, and never rise', () => {
  const found = { src: 1000, 'src/core': 600, 'src/cli': 400, 'src/new': 150 }
  expect(
    lowerCeilings(found, { src: 1200, 'src/core': 700, 'src/cli': 401, 'src/old': 9 }),
  ).toEqual({ src: 1000, 'src/core': 606, 'src/cli': 401, 'src/new': 152 })
})
