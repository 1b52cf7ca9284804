import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLister, type ListFault } from '../../src/files/list-below.ts'
import { maxListed } from '../../src/files/list-names.ts'
import { loadBelow, loadNamed } from '../../src/files/load-below.ts'
import { replaceBelow } from '../../src/files/replace-file.ts'
import { writeFiles } from '../../src/files/write-files.ts'
import { itLong } from '../runs.ts'

let folder: string
let root: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'edgewise-below-')))
  root = join(folder, 'root')
  mkdirSync(join(root, 'sub'), { recursive: true })
  mkdirSync(join(folder, 'outside'))
  writeFileSync(join(folder, 'outside', 'a'), 'outside')
  writeFileSync(join(root, 'sub', 'a'), 'inside')
  symlinkSync('sub', join(root, 'within'))
  symlinkSync('../outside', join(root, 'out'))
  symlinkSync('../outside/a', join(root, 'file'))
  symlinkSync('../outside/new', join(root, 'broken'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const outside = () => [readdirSync(join(folder, 'outside')), readOutside()]
const readOutside = () => readFileSync(join(folder, 'outside', 'a'), 'utf8')
const untouched = [['a'], 'outside']

describe('a folder below a root', () => {
  const list = (path: string) => {
    const faults: ListFault[] = []
    const entries = createLister(root, (fault) => faults.push(fault))(join(root, path))
    return { names: entries.map(({ name }) => name), faults }
  }

  it('is listed through a link within the root', () => {
    expect(list('sub')).toEqual({ names: ['a'], faults: [] })
    expect(list('within')).toEqual({ names: ['a'], faults: [] })
  })

  it.each(['out', 'out/more', 'out/a/more', 'within/../out', 'sub/../../outside'])(
    'is not listed at %s, outside of it',
    (path) => {
      const { names, faults } = list(path)
      const exit = path.includes('outside') ? '..' : 'out'
      expect([names, faults]).toEqual([[], [{ path: exit, kind: 'outside', code: '' }]])
    },
  )

  it('has no entries if it does not exist or is a file', () => {
    for (const path of ['no', 'sub/a', 'no/more'])
      expect(list(path)).toEqual({ names: [], faults: [] })
  })

  itLong('ends a search above the limit, with one fault', () => {
    const faults: ListFault[] = []
    const lister = createLister(root, (fault) => faults.push(fault))
    for (let i = 0; i < 1000; i++) writeFileSync(join(root, 'sub', `${i}`), '')
    for (let listed = 0; listed <= maxListed; listed += 1000) lister(join(root, 'sub'))
    expect([lister(join(root, 'sub')), faults]).toEqual([
      [],
      [{ path: '', kind: 'too-many', code: '' }],
    ])
  })
})

it.each([
  ['alone', () => undefined],
  ['among many', () => new Map<string, boolean>()],
])('a file is loaded through links that stay below the root, %s', (_, remember) => {
  const folders = remember()
  const load = (path: string) => loadBelow(root, path, 100, folders)
  symlinkSync('a', join(root, 'sub', 'link'))
  for (const path of ['sub/a', 'within/a', 'sub/link', 'sub/../sub/a'])
    expect(String(load(path))).toBe('inside')
  for (const path of ['file', 'out/a', '../outside/a', 'out/../../outside/a'])
    expect(load(path)).toMatchObject({ kind: 'outside' })
  for (const path of ['broken', 'no/a', 'sub/no'])
    expect(load(path)).toMatchObject({ kind: 'unreadable', code: 'ENOENT' })
  expect(load('sub')).toMatchObject({ kind: 'no-file' })
})

it('a named file is loaded through links elsewhere, but not out of the checkout', () => {
  const load = (path: string, checkout: string | null = root) =>
    loadNamed(join(folder, path), 100, checkout)
  symlinkSync('outside', join(folder, 'elsewhere'))
  symlinkSync('root/file', join(folder, 'chain'))
  expect(String(load('elsewhere/a'))).toBe('outside')
  expect(String(load('root/within/a'))).toBe('inside')
  for (const path of ['root/file', 'root/out/a', 'chain'])
    expect(load(path)).toMatchObject({ kind: 'outside' })
  expect(String(load('root/file', null))).toBe('outside')
})

describe('nothing is written below a root', () => {
  it.each(['out/a', 'out/new', 'out/more/new', 'file', '../outside/a'])('through %s', (path) => {
    expect(replaceBelow(root, path, 'x', 'me')).toBe('OUTSIDE')
    const file = { path: join(root, path), text: 'x' }
    for (const before of [null, 'outside'])
      expect(writeFiles(root, [{ ...file, before }], 'me')?.code).toMatch(/^(OUTSIDE|EEXIST)$/)
    expect(outside()).toEqual(untouched)
  })

  it('through a broken link', () => {
    expect(replaceBelow(root, 'broken', 'x', 'me')).toBe('ENOENT')
    expect(
      writeFiles(root, [{ path: join(root, 'broken'), text: 'x', before: null }], 'me'),
    ).toEqual({ path: join(root, 'broken'), code: 'EEXIST', left: [] })
    expect(outside()).toEqual(untouched)
  })
})

it('a file below a root is replaced and created through links that stay in it', () => {
  expect(replaceBelow(root, 'within/a', 'replaced', 'me')).toBeNull()
  const created = { path: join(root, 'within/more/b'), text: 'created', before: null }
  expect(writeFiles(root, [created], 'me')).toBeNull()
  expect(readFileSync(join(root, 'sub', 'a'), 'utf8')).toBe('replaced')
  expect(readFileSync(join(root, 'sub', 'more', 'b'), 'utf8')).toBe('created')
  expect(writeFiles(root, [created], 'me')?.code).toBe('EEXIST')
})
