import { expect, it } from 'vitest'
import { addChanges, changeFiles, findConflict } from '../../src/state/folder/file-changes.ts'

it('a later change replaces an earlier one, and a removed folder those of its files', () => {
  const all = new Map<string, string | null>([
    ['a/1.json', 'old'],
    ['b/c/2.json', 'old'],
    ['bc/3.json', 'old'],
  ])
  addChanges(
    all,
    new Map([
      ['a/1.json', 'new'],
      ['b', null],
    ]),
  )
  expect([...all]).toEqual([
    ['bc/3.json', 'old'],
    ['a/1.json', 'new'],
    ['b', null],
  ])
})

it.each<[string, [string, string | null][], string[]]>([
  ['a changed file', [['a/1.json', 'new']], ['a/1.json new', 'a/2.json old']],
  ['an added file', [['a/0/3.json', 'new']], ['a/0/3.json new', 'a/1.json old', 'a/2.json old']],
  ['a removed file', [['a/1.json', null]], ['a/2.json old']],
  ['a removed folder above', [['a', null]], []],
  ['a file elsewhere', [['ab/1.json', 'new']], ['a/1.json old', 'a/2.json old']],
])('the files of a folder after %s', (_what, changes, expected) => {
  const files = new Map([
    ['a/1.json', 'old'],
    ['a/2.json', 'old'],
  ])
  const after = [...changeFiles(files, new Map(changes), 'a')]
  expect(after.map((file) => file.join(' '))).toEqual(expected)
})

it('two processes conflict where they give one path different texts', () => {
  const foreign = new Map([
    ['a.json', 'x'],
    ['b.json', 'y'],
  ])
  expect(findConflict([new Map([['a.json', 'x']]), new Map([['c.json', 'z']])], foreign)).toBeNull()
  expect(findConflict([new Map(), new Map([['b.json', null]])], foreign)).toBe('b.json')
})
