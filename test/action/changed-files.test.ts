// @module-tag often
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseGithub, parseGitlab } from './templates.ts'

let folder = ''
const env = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim()
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** Checks out the merge of a change into `main`, which has gone on; returns the merge base. */
function merge(...paths: string[]): string {
  git('checkout', '--quiet', '-B', 'change', 'base')
  for (const path of paths) write(path, 'new')
  git('add', '.')
  git('commit', '--quiet', '--allow-empty', '-m', 'change')
  git('checkout', '--quiet', '--detach', 'main')
  git('merge', '--quiet', '--no-edit', 'change')
  return git('rev-parse', 'base')
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-changes-'))
  git('init', '--quiet', '-b', 'main')
  write('domains/a.yaml', 'old')
  write('README', 'old')
  git('add', '.')
  git('commit', '--quiet', '-m', 'base')
  git('tag', 'base')
  write('domains/other.yaml', 'merged meanwhile')
  git('add', '.')
  git('commit', '--quiet', '-m', 'meanwhile')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a check of a pull request on GitHub', () => {
  const step = (kind: string, workspace?: string) =>
    parseGithub(kind, workspace).jobs['plan']?.steps.find(({ run }) => run !== undefined)?.run ??
    'exit 99'
  /** Runs a step as the runner does. */
  const run = (script: string, more: Record<string, string>) => {
    const output = join(folder, '.git/output')
    writeFileSync(output, '')
    const { status, stdout } = spawnSync('bash', ['-e', '-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...env,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: join(folder, '.git/summary'),
        ...more,
      },
    })
    return { status, stdout, output: readFileSync(output, 'utf8') }
  }

  it.each([
    [['domains/a.yaml'], undefined, 'true'],
    [['.github/workflows/edgewise-plan.yml'], undefined, 'true'],
    // The globs of edgewise.yaml may name any file.
    [['README', 'src/domains/x.yaml'], undefined, 'true'],
    [['policies/a.yaml'], undefined, 'true'],
    [['apps/my cdn/rules/requests.txt'], 'apps/my cdn', 'true'],
    [['.github/CODEOWNERS'], 'apps/my cdn', 'true'],
    [['docs/CODEOWNERS'], 'apps/my cdn', 'true'],
    [['apps/my cdn/README'], 'apps/my cdn', 'true'],
    [['apps/my other/x', 'domains/a.yaml'], 'apps/my cdn', 'false'],
  ])('finds out whether %j changes the workspace %s: %s', (paths, workspace, changed) => {
    merge(...paths)
    const ran = run(step('plan', workspace), { BASE: 'HEAD^1' })
    expect(ran).toMatchObject({ status: 0, output: `changed=${changed}\n` })
    expect(ran.stdout).toBe(
      changed === 'true' ? '' : 'No file of the workspace changes. Nothing to plan.\n',
    )
    if (changed === 'false')
      expect(readFileSync(join(folder, '.git/summary'), 'utf8')).toBe(ran.stdout)
  })

  it('plans if git fails', () => {
    merge('README')
    expect(run(step('plan', 'apps/a'), { BASE: 'missing' }).output).toBe('changed=true\n')
  })

  it.each([
    ['refs/heads/main', 'true', 0, ''],
    ['refs/heads/main', 'false', 1, 'The branch is not protected'],
    ['refs/heads/topic', 'true', 1, 'Only the branch of this workflow'],
    ['refs/tags/main', 'true', 1, 'Only the branch of this workflow'],
  ])('applies %s, protected %s: exit %s', (ref, isProtected, status, message) => {
    const more = { BRANCH: 'main', GITHUB_REF: ref, GITHUB_REF_PROTECTED: isProtected }
    const ran = run(step('apply'), more)
    expect(ran.status).toBe(status)
    expect(ran.stdout).toMatch(message === '' ? /^$/ : new RegExp(`^::error::${message}`))
  })
})

describe('the plan of a merge request on GitLab', () => {
  it.each([
    [['domains/a.yaml'], '.', true],
    [['README'], '.', true],
    [['rules/own.yaml', 'CODEOWNERS'], 'apps/a', true],
    [['README'], 'apps/a', false],
  ])('of %j in the workspace %s: %s', (paths, workspace, isPlanned) => {
    const out = isPlanned ? '' : 'No file of the workspace changes. Nothing to plan.\n'
    const at = workspace === '.' ? '' : ` -C ${workspace}`
    const file = `${workspace === '.' ? '' : `${workspace}/`}.edgewise/plan.md`
    const calls = `validate${at}\ntest${at} --allow-empty\nplan${at} --report ${file}\n`

    const base = merge(...paths)
    git('checkout', '--quiet', 'change')
    // The program of the image.
    write('.git/bin/edgewise', '#!/bin/sh\necho "$@" >> .git/calls\n')
    chmodSync(join(folder, '.git/bin/edgewise'), 0o755)
    writeFileSync(join(folder, '.git/calls'), '')
    const name = workspace === '.' ? '' : '-apps-a'
    const script = parseGitlab(workspace)[`edgewise${name} plan`]?.script.join('\n') ?? 'exit 99'
    const { status, stdout } = spawnSync('sh', ['-e', '-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...env, PATH: `${folder}/.git/bin:${env.PATH}`, CI_MERGE_REQUEST_DIFF_BASE_SHA: base },
    })
    expect([status, stdout]).toEqual([0, out])
    expect(readFileSync(join(folder, '.git/calls'), 'utf8')).toBe(isPlanned ? calls : '')
  })
})
