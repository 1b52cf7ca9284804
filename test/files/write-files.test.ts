import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeFiles } from '../../src/files/write-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-write-'))
  writeFileSync(join(folder, 'old'), 'before', { mode: 0o640 })
})
afterEach(() => rmSync(folder, { recursive: true }))

const created = (name: string) => ({ path: join(folder, name), text: name, before: null })
const changed = (before = 'before') => ({ path: join(folder, 'old'), text: 'after', before })
const list = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
const readOld = () => readFileSync(join(folder, 'old'), 'utf8')

it('writes new files in new folders, and replaces files', () => {
  expect(writeFiles(folder, [changed(), created('a/b/c'), created('a/d')], 'me')).toBeNull()
  expect(list()).toEqual(['a', 'a/b', 'a/b/c', 'a/d', 'old'])
  expect(readFileSync(join(folder, 'a/b/c'), 'utf8')).toBe('a/b/c')
  expect([readOld(), statSync(join(folder, 'old')).mode & 0o777]).toEqual(['after', 0o640])
})

it.each([
  ['a name is in use', 'EEXIST', () => [created('a/b/c'), created('old')]],
  ['a folder is a file', 'EEXIST', () => [created('a/b/c'), created('old/x')]],
  ['a file has changed', 'CHANGED', () => [created('a/b/c'), changed('other')]],
  [
    'a file is gone',
    'ENOENT',
    () => [created('a/b/c'), { ...changed(), path: join(folder, 'no') }],
  ],
  ['two files have one name', 'EEXIST', () => [changed(), created('a'), created('a')]],
])('writes nothing if %s', (_what, code, files) => {
  expect(writeFiles(folder, files(), 'me')).toMatchObject({ code, left: [] })
  expect([list(), readOld()]).toEqual([['old'], 'before'])
})

it('removes and restores what it wrote before a failure', () => {
  let moves = 0
  const move = (from: string, to: string) => {
    if (++moves === 3) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    renameSync(from, to)
  }
  const files = [changed(), created('a'), created('b'), created('c')]
  expect(writeFiles(folder, files, 'me', move)).toEqual({
    path: join(folder, 'b'),
    code: 'ENOSPC',
    left: [],
  })
  expect([list(), readOld()]).toEqual([['old'], 'before'])
})

it('names what it could not remove again', () => {
  const move = (from: string, to: string) => {
    if (to.endsWith('b')) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    renameSync(from, to)
    // A folder in its place can't be removed.
    rmSync(to)
    mkdirSync(join(to, 'x'), { recursive: true })
  }
  expect(writeFiles(folder, [created('a'), created('b')], 'me', move)?.left).toEqual([
    join(folder, 'a'),
  ])
})

it('leaves a file that somebody else creates meanwhile', () => {
  const move = (from: string, to: string) => {
    renameSync(from, to)
    if (to.endsWith('a')) writeFileSync(join(folder, 'b'), 'theirs')
  }
  expect(writeFiles(folder, [created('a'), created('b')], 'me', move)).toMatchObject({
    code: 'EEXIST',
  })
  expect([list(), readFileSync(join(folder, 'b'), 'utf8')]).toEqual([['b', 'old'], 'theirs'])
})
