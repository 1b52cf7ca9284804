// @module-tag often
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
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
  mkdirSync(join(folder, 'dist', 'cli'))
  writeFileSync(join(folder, 'dist', 'cli', 'main.js'), 'program')
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
    'dist/cli/main.js',
  ])
  const modes = git('ls-tree', '-r', '--format=%(objectmode) %(path)', commit).split('\n')
  expect(modes.filter((line) => !line.startsWith('100644'))).toEqual(['100755 dist/cli/main.js'])
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
  expect(find('## 1.2.3 – unreleased\n', 'release/v1.2.4')).toEqual([
    'the work tree has changes: commit them',
    'the tag v1.2.3 exists: set the next version in package.json',
    'package.json has version 1.2.3, the branch is named release/v1.2.4',
    'CHANGELOG.md has no heading "## 1.2.3 – DATE"',
  ])
})

const root = new URL('../../', import.meta.url)
const load = (path: string) => readFileSync(new URL(path, root), 'utf8')

describe('the second job of the workflow', () => {
  const { jobs } = parse(load('.github/workflows/release.yml')) as {
    jobs: { publish: { steps: { name?: string; run?: string }[] } }
  }
  const temp = () => join(folder, '..', `${folder.split('/').at(-1) ?? ''}-temp`)
  const clone = () => join(temp(), 'clone')
  afterEach(() => rmSync(temp(), { recursive: true, force: true }))

  /** Runs the script of a step as a runner does, in a clone; gh prints its arguments and notes. */
  const runStep = (name: string, commit: string) => {
    const script = jobs.publish.steps.find((step) => step.name === name)?.run ?? 'exit 99'
    return spawnSync('bash', ['--noprofile', '--norc', '-e', '-c', script], {
      cwd: clone(),
      encoding: 'utf8',
      env: {
        PATH: `${join(temp(), 'bin')}:${process.env['PATH'] ?? ''}`,
        RUNNER_TEMP: temp(),
        VERSION: '1.2.3',
        GITHUB_SHA: commit,
        GITHUB_REPOSITORY: 'team/edgewise',
      },
    })
  }
  /** Puts files of the first job beside a clone of the source, and returns the checked commit. */
  const prepare = (): string => {
    rmSync(temp(), { recursive: true, force: true })
    mkdirSync(join(temp(), 'release'), { recursive: true })
    mkdirSync(join(temp(), 'bin'))
    git('clone', '-q', '--bare', '--no-tags', folder, join(temp(), 'origin'))
    git('clone', '-q', join(temp(), 'origin'), clone())
    git('bundle', 'create', '-q', join(temp(), 'release/version.bundle'), 'v1.2.3', '^main')
    writeFileSync(join(temp(), 'release', 'edgewise-1.2.3.tgz'), 'package')
    const gh = '#!/bin/sh\nprintf "%s\\n" "$@"\ncat "$RUNNER_TEMP/notes.md"\n'
    writeFileSync(join(temp(), 'bin', 'gh'), gh, { mode: 0o755 })
    return git('rev-parse', 'main')
  }

  it('pushes the tag of the checked commit, and releases the files with their sums', () => {
    writeFileSync(join(folder, 'CHANGELOG.md'), '## 1.2.3 – today\n\n- new\n\n## 1.2.2 – then\n')
    git('add', 'CHANGELOG.md')
    git('commit', '-q', '-m', 'Release 1.2.3')
    const commit = commitWithProgram(folder, '1.2.3')
    const checked = prepare()
    expect(runStep('Take over the tag', checked)).toMatchObject({ status: 0 })
    const { status, stdout } = runStep('Create the release', checked)
    expect([status, stdout.split('\n')]).toEqual([
      0,
      expect.arrayContaining([
        '--verify-tag',
        join(temp(), 'release', 'SHA256SUMS'),
        join(temp(), 'release', 'edgewise-1.2.3.tgz'),
        '- new',
        `Use the action by its commit: \`team/edgewise@${commit}\``,
      ]) as string[],
    ])
    expect(stdout).not.toContain('1.2.2')
    expect(readFileSync(join(temp(), 'release', 'SHA256SUMS'), 'utf8')).toMatch(
      /^[0-9a-f]{64} {2}edgewise-1\.2\.3\.tgz\n$/,
    )
    const origin = ['--git-dir', join(temp(), 'origin')]
    expect(git(...origin, 'rev-parse', 'v1.2.3^{commit}')).toBe(commit)
  })

  it('refuses a tag that changes more than dist, or is not on top of the checked commit', () => {
    const first = git('rev-parse', 'main')
    writeFileSync(join(folder, 'action.yml'), 'name: evil\n')
    git('commit', '-q', '-am', 'Change the source')
    git('tag', '-a', '-m', 'x', 'v1.2.3')
    git('reset', '-q', '--hard', first)
    const fetched = expect.stringContaining('[new tag]') as string
    const refused = { status: 1, stdout: '', stderr: fetched }
    expect(runStep('Take over the tag', prepare())).toMatchObject(refused)
    prepare()
    const other = git('rev-parse', 'v1.2.3^{commit}')
    expect(runStep('Take over the tag', other)).toMatchObject(refused)
  })
})

it('the image has a base pinned by digest, and only files that the build context has', () => {
  const lines = load('Dockerfile').split('\n')
  expect(lines.find((line) => line.startsWith('ARG BASE='))).toMatch(/@sha256:[0-9a-f]{64}$/)
  expect(lines.filter((line) => /^(FROM|USER)/.test(line))).toEqual(['FROM ${BASE}', 'USER node'])
  const copied = lines.flatMap((line) => /^COPY (.*) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  const [all, ...context] = load('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect([all, context.toSorted()]).toEqual(['*', copied.map((path) => `!${path}`).toSorted()])
})
