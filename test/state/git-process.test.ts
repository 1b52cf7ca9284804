import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildGitEnvironment, createGit, formatGitError } from '../../src/state/git/git-process.ts'

describe('the environment of git', () => {
  it('has what git, its helpers and ssh need', () => {
    const given = {
      PATH: '/bin',
      HOME: '/home/me',
      SSH_AUTH_SOCK: '/run/agent',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_ASKPASS: '/bin/askpass',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      https_proxy: 'http://proxy:3128',
      GITHUB_TOKEN: 'of the forge',
    }
    expect(buildGitEnvironment(given, 'of the service')).toMatchObject(given)
  })

  it('has nothing else, and nothing with the token of the service in it', () => {
    const given = {
      GIT_DIR: '/x',
      GIT_INDEX_FILE: '/x',
      GIT_WORK_TREE: '/x',
      AWS_SECRET: 'x',
      EDGEWISE_TOKEN: 't0k',
      GITHUB_TOKEN: 'Bearer t0k',
      NOTHING: undefined,
    }
    expect(Object.keys(buildGitEnvironment(given, 't0k')).toSorted()).toEqual([
      'GCM_INTERACTIVE',
      'GIT_TERMINAL_PROMPT',
      'LC_ALL',
      'SSH_ASKPASS_REQUIRE',
    ])
  })
})

describe('what git said', () => {
  it('is told without credentials, hints and prefixes', () => {
    const err =
      "hint: try again\nfatal: unable to access 'https://user:hunter2@git.example.com/x.git/': no route\nremote: closed\n"
    expect(formatGitError({ code: 1, out: Buffer.alloc(0), err })).toBe(
      "unable to access 'https://git.example.com/x.git/': no route; closed",
    )
  })
})

it.each(['INT', 'TERM'])(
  'a git that SIG%s ended before it had begun is begun again',
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-git-'))
    try {
      writeFileSync(
        join(folder, 'git'),
        `#!/bin/sh\n[ -e begun ] && exec echo said\n: > begun\nkill -${signal} $$\nsleep 5\n`,
        {
          mode: 0o755,
        },
      )
      const { code, out } = await createGit(
        folder,
        { PATH: `${folder}:${process.env['PATH'] ?? ''}` },
        [],
      )([])
      expect([code, String(out), existsSync(join(folder, 'begun'))]).toEqual([0, 'said\n', true])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

it('a git that does not answer in time is given up, with all it has started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-process-'))
  const git = createGit(folder, buildGitEnvironment(process.env, ''), [
    '-c',
    'alias.wait=!sleep 600',
  ])
  const result = await git(['wait'], '', 200)
  expect(result).toMatchObject({ err: 'no answer in 0.2 s' })
  expect(result.code).not.toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

it('a git that is not there is told as such', async () => {
  await expect(createGit(tmpdir(), { PATH: '/nowhere' }, [])(['version'])).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('git is not installed') as string,
  })
})
