// @module-tag often
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findOnlyChange, findSourceTree } from '../../src/state/git/source-tree.ts'
import { GitSandbox } from './git-sandbox.ts'

let sandbox: GitSandbox
let top: string
beforeEach(async () => {
  sandbox = new GitSandbox()
  top = await sandbox.repository('repo')
})
afterEach(() => sandbox.remove())

const commit = async (message: string) => {
  await sandbox.git('repo', 'add', '--all', '.')
  await sandbox.git('repo', 'commit', '--quiet', '-m', message)
  return sandbox.git('repo', 'rev-parse', 'HEAD')
}
const write = (folder: string, text: string) => {
  mkdirSync(join(top, folder), { recursive: true })
  writeFileSync(join(top, folder, 'edgewise.yaml'), text)
}
const findTree = (folder: string) =>
  findSourceTree(
    {
      root: join(top, folder),
      paths: ['edgewise.yaml'],
      isSource: (path) => path.startsWith('domains/'),
    },
    sandbox.env,
    (text) => text.replaceAll('secret', '***'),
  )
const by = (id: string, subject: string) => ({
  commit: id,
  committed: { author: 'Test', subject },
})

describe.each([':(glob)x', ':(icase)x', ':(none)x', ':(attr:x)x', ':(top)', ':!x', '*', '-u'])(
  'a workspace in a folder named %s',
  (folder) => {
    it('has the tree of its own files', async () => {
      write(folder, 'a')
      write('x', 'a')
      const head = await commit('commit both, secret\n\nbody')
      expect(await findTree(folder)).toEqual(by(head, 'commit both, ***'))
      write(folder, 'b')
      expect(await findTree(folder)).toEqual({ commit: null, onTopOf: head })
    })

    it('is changed by commits of its own files only', async () => {
      write(folder, 'a')
      write('x', 'a')
      const first = await commit('both')
      write(folder, 'b')
      const own = await commit('own')
      write('x', 'b')
      const last = await commit('foreign')
      expect(await findOnlyChange(join(top, folder), first, last, sandbox.env)).toBe(own)
    })
  },
)

it.each([
  ['its repository', '.', 'edgewise.yaml'],
  ['a submodule', 'nested', 'file'],
])('is found without the filters of %s', async (_what, owner, name) => {
  const nested = await sandbox.repository('repo/nested')
  writeFileSync(join(nested, '.gitattributes'), '* filter=evil\n')
  writeFileSync(join(nested, 'file'), 'a')
  await sandbox.git('repo/nested', 'add', '--all', '.')
  await sandbox.git('repo/nested', 'commit', '--quiet', '-m', 'file')
  writeFileSync(join(top, '.gitattributes'), '* filter=evil\n')
  write('.', 'a')
  const head = await commit('both')
  const mark = join(sandbox.folder, 'started')
  const program = join(sandbox.folder, 'program')
  writeFileSync(program, `#!/bin/sh\n: > ${mark}\ncat\n`, { mode: 0o755 })
  const filter = ['clean', 'process'].map((key) => `\t${key} = ${program}\n`).join('')
  const config = join(top, owner, '.git', 'config')
  appendFileSync(config, `[filter "evil"]\n${filter}\trequired = true\n`)
  // Its time makes git compare the content.
  utimesSync(join(top, owner, name), 0, 0)
  expect(await findTree('.')).toEqual(by(head, 'both'))
  expect(existsSync(mark)).toBe(false)
})

describe.each(['.', 'cdn'])('a workspace in %s, with a deleted file', (folder) => {
  const path = (file: string) => join(top, folder, file)
  const place = (file: string) => {
    mkdirSync(join(path(file), '..'), { recursive: true })
    writeFileSync(path(file), 'a')
  }

  it.each([
    ['that is one of its sources', 'domains/a.yaml', true],
    ['that none of its globs matches', '.github/workflows/ci.yml', false],
    ['of another workspace', 'staging/domains/a.yaml', false],
  ])('%s', async (_what, file, isChange) => {
    write(folder, 'a')
    place(file)
    const head = await commit('both')
    rmSync(path(file))
    expect(await findTree(folder)).toEqual(
      isChange ? { commit: null, onTopOf: head } : by(head, 'both'),
    )
  })

  it('that a link may have led to', async () => {
    write(folder, 'a')
    place('shared/a.yaml')
    symlinkSync('shared', path('domains'))
    const head = await commit('both')
    rmSync(path('shared/a.yaml'))
    expect(await findTree(folder)).toEqual({ commit: null, onTopOf: head })
  })
})
