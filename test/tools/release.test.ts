import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commitWithProgram, findReleaseProblems } from '../../tools/release-commit.ts'

let folder = ''
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-release-test-'))
  git('init', '-q', '-b', 'main')
  writeFileSync(join(folder, '.gitignore'), 'dist/\n')
  writeFileSync(join(folder, 'action.yml'), 'name: x\n')
  git('add', '.')
  git('commit', '-q', '-m', 'Source')
  mkdirSync(join(folder, 'dist', 'chunks'), { recursive: true })
  writeFileSync(join(folder, 'dist', 'main.js'), 'program')
  writeFileSync(join(folder, 'dist', 'chunks', 'solver.wasm'), new Uint8Array([0, 13, 10]))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('the commit of a version has the program on top of the source, and nothing else moves', () => {
  const head = git('rev-parse', 'HEAD')
  const commit = commitWithProgram(folder, '1.2.3')
  expect(git('rev-parse', 'v1.2.3^{commit}')).toBe(commit)
  expect(git('rev-parse', `${commit}^`)).toBe(head)
  expect(git('ls-tree', '-r', '--name-only', commit).split('\n')).toEqual([
    '.gitignore',
    'action.yml',
    'dist/chunks/solver.wasm',
    'dist/main.js',
  ])
  expect([git('rev-parse', 'main'), git('status', '--porcelain')]).toEqual([head, ''])
  // The same program of the same source is the same commit.
  git('tag', '--delete', 'v1.2.3')
  expect(commitWithProgram(folder, '1.2.3')).toBe(commit)
})

it('a version is refused with changes, an existing tag, another branch or no changelog', () => {
  const find = (changelog: string, branch: string | null = 'release/v1.2.3') =>
    findReleaseProblems(folder, '1.2.3', { branch, changelog })
  const changelog = '# Changelog\n\n## 1.2.3 – 2026-03-01\n'
  expect([find(changelog), find(changelog, null), find(changelog, 'main')]).toEqual([[], [], []])
  commitWithProgram(folder, '1.2.3')
  writeFileSync(join(folder, 'action.yml'), 'name: y\n')
  expect(find('## Unreleased\n', 'release/v1.2.4')).toEqual([
    'the work tree has changes: commit them',
    'the tag v1.2.3 exists: set the next version in package.json',
    'package.json has version 1.2.3, the branch is named release/v1.2.4',
    'CHANGELOG.md has no heading "## 1.2.3 – DATE"',
  ])
})
