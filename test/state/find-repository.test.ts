import {
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { findCheckout, findRepository } from '../../src/state/git/find-repository.ts'
import { createCommitTest, openPlace } from '../../src/state/git/open-place.ts'
import { GitSandbox } from './git-sandbox.ts'
import { itLong } from '../runs.ts'

let sandbox: GitSandbox
let top: string
beforeEach(async () => {
  sandbox = new GitSandbox()
  top = realpathSync(await sandbox.repository('top'))
})
afterEach(() => sandbox.remove())

/** Adds a folder, and returns its path. */
function addFolder(...steps: string[]): string {
  const folder = join(top, ...steps)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Adds a submodule as git does, but from a repository of this machine. */
async function addSubmodule(name: string): Promise<void> {
  await sandbox.repository(name)
  renameSync(join(sandbox.folder, name), join(top, name))
  await sandbox.git('top', 'submodule', '--quiet', 'add', './sub', name)
  await sandbox.git('top', 'submodule', '--quiet', 'absorbgitdirs')
}

/** Returns the error of a function that has to throw one. */
function catchError(work: () => unknown): EdgewiseError {
  try {
    work()
  } catch (error) {
    if (error instanceof EdgewiseError) return error
    throw error
  }
  throw new Error('expected an error')
}

describe('the repository of a folder', () => {
  it('is that of the nearest .git upwards, also through a link to the folder', () => {
    const place = { gitFolder: join(top, '.git'), workTree: top }
    expect(findRepository(top)).toEqual(place)
    expect(findRepository(addFolder('a', 'b'))).toEqual(place)
    symlinkSync(join(top, 'a'), join(sandbox.folder, 'link'))
    expect(findRepository(join(sandbox.folder, 'link', 'b'))).toEqual(place)
    expect(findRepository(join(sandbox.folder, 'link', 'none'))).toEqual(place)
    mkdirSync(join(sandbox.folder, 'outside'))
    expect(findRepository(join(sandbox.folder, 'outside'))).toBeNull()
  })

  itLong('may be a further work tree, or a submodule', async () => {
    await sandbox.git('top', 'worktree', 'add', '--quiet', '--detach', '../tree')
    expect(findRepository(join(sandbox.folder, 'tree'))).toEqual({
      gitFolder: join(top, '.git/worktrees/tree'),
      workTree: realpathSync(join(sandbox.folder, 'tree')),
    })
    await addSubmodule('sub')
    expect(findRepository(join(top, 'sub'))).toEqual({
      gitFolder: join(top, '.git/modules/sub'),
      workTree: join(top, 'sub'),
    })
    expect(findCheckout(join(top, 'sub'))).toBe(top)
    expect(findCheckout(join(sandbox.folder, 'tree'))).toBe(realpathSync(`${sandbox.folder}/tree`))
    expect(findCheckout(sandbox.folder)).toBeNull()
  })

  it.each([[['HEAD', 'objects', 'refs', 'config']], [['HEAD', 'commondir']]])(
    'is none of %s, which a commit can bring',
    (names) => {
      const folder = addFolder('ws', 'deep')
      for (const name of names.slice(1)) {
        writeFileSync(join(top, 'ws', name), '')
        expect(findRepository(folder)?.workTree).toBe(top)
      }
      writeFileSync(join(top, 'ws', 'HEAD'), 'ref: refs/heads/main\n')
      const error = catchError(() => findRepository(folder))
      expect(error.code).toBe('invalid')
      expect(error.message).toContain(`${join(top, 'ws')} looks like a bare git repository`)
    },
  )

  it('is none of a .git without a HEAD, and of a .git file that leads nowhere', () => {
    expect(findRepository(addFolder('ws', '.git'))?.workTree).toBe(top)
    for (const text of ['', 'gitdir: ', 'gitdir: ../none\n', 'something else']) {
      rmSync(join(top, 'ws', '.git'), { recursive: true })
      writeFileSync(join(top, 'ws', '.git'), text)
      expect(catchError(() => findRepository(join(top, 'ws'))).message).toContain(
        'names no folder of a git repository',
      )
    }
  })
})

describe.skipIf(process.geteuid?.() !== 0)('the repository of another user (as root)', () => {
  const open = (env: Record<string, string> = {}) =>
    openPlace(join(top, 'ws'), { ...sandbox.env, ...env })
  const allow = (value: string) => ({
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: value,
  })

  it.each(['.', '.git'])('is refused if %s belongs to them', (name) => {
    addFolder('ws')
    expect(open()).toMatchObject({ workTree: top, cwd: top })
    chownSync(join(top, name), 12_345, 12_345)
    const error = catchError(open)
    expect(error.code).toBe('unavailable')
    expect(error.hint).toContain(`safe.directory ${top}`)
    expect(open({ SUDO_UID: '12345' })).toMatchObject({ workTree: top })
  })

  it('is used if safe.directory allows it', () => {
    addFolder('ws')
    chownSync(top, 12_345, 12_345)
    for (const value of ['*', top, join(sandbox.folder, '*')])
      expect(open(allow(realOr(value)))).toMatchObject({ workTree: top })
    for (const value of ['', join(top, 'ws'), sandbox.folder])
      expect(() => open(allow(value))).toThrow('belongs to another user')
  })
})

/** Resolves the links of a path that exists. */
function realOr(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

describe('a file that git has or would add', () => {
  it('is one of the work tree that is not ignored, also by a link from outside', () => {
    const isCommitted = createCommitTest(addFolder('ws'), sandbox.env)
    writeFileSync(join(top, 'ws', 'key'), '')
    expect([isCommitted('key'), isCommitted('none'), isCommitted('../../away')]).toEqual([
      true,
      true,
      false,
    ])
    symlinkSync(join(top, 'ws', 'key'), join(sandbox.folder, 'link'))
    symlinkSync('/etc/hostname', join(top, 'ws', 'away'))
    expect([isCommitted('../../link'), isCommitted('away')]).toEqual([true, true])
    writeFileSync(join(top, '.gitignore'), 'key\naway\n')
    expect([isCommitted('key'), isCommitted('../../link'), isCommitted('away')]).toEqual([
      false,
      false,
      false,
    ])
  })

  itLong('is one that git has no answer for, such as a file of a submodule', async () => {
    await addSubmodule('sub')
    writeFileSync(join(top, 'sub', 'key'), '')
    expect(createCommitTest(top, sandbox.env)('sub/key')).toBe(true)
  })

  it('is none without git, and outside of a repository', () => {
    expect(createCommitTest(top, { ...sandbox.env, PATH: '/nowhere' })('key')).toBe(false)
    expect(createCommitTest(sandbox.folder, sandbox.env)('key')).toBe(false)
  })
})
