// @module-tag often
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openState } from '../../src/state/store/open-state.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { buildApplied, buildItem, buildDomain, buildWave } from '../state/store-contract.ts'
import { itLong } from '../runs.ts'
import { shareLater } from '../stories/lost-outcomes.ts'
import { fetchConfig, Place } from './cli.ts'
import { emulator, setStage } from './stage.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let sandbox: GitSandbox

setStage()
beforeEach(() => {
  sandbox = new GitSandbox()
})
afterEach(() => sandbox.remove())

const branch = 'edgewise-state'

/** Creates a workspace in a folder of the sandbox without a `state` key. */
function workspaceIn(folder: string, more = '', options: { limits?: string } = {}): Place {
  const place = new Place(emulator.url, more, {
    root: join(sandbox.folder, folder),
    state: '',
    ...options,
  })
  place.env = { ...place.env, ...sandbox.env }
  return place.manifest('a.example.com', { timeout: { time: '10' } })
}

/** Lists branch, index and work tree of a clone. */
async function ownWork(clone: string): Promise<string[]> {
  return [
    await sandbox.git(clone, 'symbolic-ref', '-q', 'HEAD'),
    await sandbox.git(clone, 'rev-parse', 'HEAD'),
    await sandbox.git(clone, 'status', '--porcelain', '--untracked-files=all'),
    await sandbox.git(clone, 'diff', '--cached'),
    await sandbox.git(clone, 'stash', 'list'),
  ]
}

describe('a workspace in a git repository', () => {
  it('keeps its state on a branch, and does not touch branch, index and work tree', async () => {
    const clone = await sandbox.withRemote()
    writeFileSync(join(clone, 'tracked.txt'), 'one')
    await sandbox.git('clone', 'add', 'tracked.txt')
    const place = workspaceIn('clone')
    writeFileSync(join(clone, 'tracked.txt'), 'two')
    const before = await ownWork('clone')
    await place.settle()
    expect(await fetchConfig(emulator, 'a.example.com')).toMatchObject({ timeout: { time: '10' } })
    expect(await ownWork('clone')).toEqual(before)
    expect(await sandbox.git('remote.git', 'rev-parse', branch)).toBe(
      await sandbox.git('clone', 'rev-parse', branch),
    )
    // Remains of the lock and of fetches are not branches.
    expect(
      (await sandbox.git('clone', 'branch', '--format=%(refname:short)')).split('\n').toSorted(),
    ).toEqual([branch, 'main'])
    expect(await sandbox.git('remote.git', 'for-each-ref', 'refs/edgewise')).toBe('')
    expect(existsSync(join(clone, '.edgewise', 'state'))).toBe(false)
  })

  it('has apply, commit, author and outcome in the history of the branch', async () => {
    await sandbox.withRemote()
    const place = workspaceIn('clone')
    place.env['GITHUB_ACTOR'] = 'octavia'
    await place.settle()
    const head = await sandbox.git('clone', 'rev-parse', 'HEAD')
    const [first] = (await place.json('state', 'history'))['applies'] as { id: string }[]
    const log = await sandbox.git('remote.git', 'log', '--format=%B', branch)
    expect(log).toContain(`Apply ${first?.id}: about to send 1 write for 1 domain`)
    expect(log).toContain(
      `Apply ${first?.id}: complete; 1 confirmed, 0 refused, 0 in-doubt, 0 not sent`,
    )
    expect(log).toContain(`Manifests: uncommitted, on top of ${head}`)
    expect(log).toContain('By: octavia')
  })

  it('gives the same plan in another clone, and explains a plan without state', async () => {
    await sandbox.withRemote()
    const first = await workspaceIn('clone').cli('apply', '--yes')
    expect([first.code, first.err.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining(
        'every managed item will be written. The remote origin has no branch edgewise-state. A ' +
          'fork has none: add its upstream repository as a remote, and name that under ' +
          '"state.remote" in edgewise.yaml.',
      ),
    ])
    const id = workspaceIn('clone', 'id: other\n')
    rmSync(join(id.root, 'domains/a.example.com.yaml'))
    id.manifest('b.example.com', { timeout: { time: '10' } })
    expect((await id.cli('plan')).err).toMatch(/every managed item\s+will be written\.\n/)
    await sandbox.git('.', 'clone', '--quiet', 'remote.git', 'other')
    const plan = await workspaceIn('other').cli('plan', '--detailed-exitcode')
    const uncommitted = /^note: manifests have uncommitted changes on top of [0-9a-f]{12}\n$/
    expect(plan).toMatchObject({ code: 0, err: expect.stringMatching(uncommitted) as string })
  })

  itLong(
    'counts the possible calls of an apply that was interrupted in another clone',
    async () => {
      await sandbox.withRemote()
      const limits = { limits: '{callsPerMinute: 3, maxWaitSeconds: 30}' }
      const place = workspaceIn('clone', '', limits)
      const state = { store: 'git' as const, branch, remote: 'origin', path: '' }
      const record = {
        root: place.root,
        id: 'default',
        address: emulator.url,
        account: 'default',
        state,
      }
      const { store } = await openState(record, {
        disk: realDisk,
        processName: 'gone',
        openGit: () => sandbox.open('clone'),
      })
      await store.load()
      await store.recordIntents(
        buildApplied('gone'),
        buildWave('gone', buildDomain('b.example.com', { timeout: buildItem('1') })),
      )
      await store.saveCalls('gone', [])
      await sandbox.git('.', 'clone', '--quiet', 'remote.git', 'other')
      const other = workspaceIn('other', '', limits)
      for (const attempt of ['the first', 'one that finds nothing cut off any more']) {
        // No apply of this workspace is known.
        const { code, err } = await other.cli('apply', '--yes', '--allow-release')
        expect({ attempt, code, err }).toMatchObject({
          code: 1,
          err: expect.stringContaining('call budget') as string,
        })
      }
      // The clone that ran it knows its calls: there were none.
      await sandbox.git(
        'remote.git',
        'update-ref',
        `refs/heads/${branch}`,
        await sandbox.git('clone', 'rev-parse', branch),
      )
      expect(await place.cli('apply', '--yes', '--allow-release')).toMatchObject({ code: 0 })
    },
  )

  it('pushes outcomes that it has not shared, also with an apply without changes', async () => {
    await sandbox.withRemote()
    const place = workspaceIn('clone')
    const state = { store: 'git' as const, branch, remote: 'origin', path: '' }
    const key = { id: 'default', address: emulator.url, account: 'default' }
    const { store } = await openState(
      { root: place.root, ...key, state },
      { disk: realDisk, processName: 'unshared', openGit: () => sandbox.open('clone') },
    )
    await store.load()
    const recorded = buildDomain('a.example.com', { timeout: buildItem('10') })
    await store.recordIntents(buildApplied('one'), buildWave('one', recorded))
    await store.recordOutcomes(buildApplied('one'), [1], recorded)
    const note = 'Outcomes of one are recorded only in this clone'
    for (const args of [['plan'], ['state', 'list']])
      expect((await place.cli(...args)).err).toContain(note)
    const { code, out } = await place.cli('apply', '--yes')
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('No changes') })
    expect(await sandbox.git('remote.git', 'log', '-1', '--format=%s', branch)).toBe(
      'Apply one: outcome of write 1',
    )
    expect((await place.cli('plan')).err).not.toContain(note)
  })

  it('keeps state in the clone without a remote, and prints a note', async () => {
    await sandbox.repository('alone')
    const place = workspaceIn('alone')
    const ran = await place.cli('apply', '--yes')
    expect(ran.code).toBe(0)
    expect(ran.err).toContain('no remote "origin"')
    expect(
      (await sandbox.git('alone', 'log', '--oneline', branch)).split('\n').length,
    ).toBeGreaterThan(1)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('refuses a configured remote that does not exist', async () => {
    await sandbox.repository('alone')
    const { code, err } = await workspaceIn('alone', 'state: {store: git, remote: upstream}\n').cli(
      'apply',
      '--yes',
    )
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        '"upstream" for the state, which the repository does not have',
      ) as string,
    })
  })

  it('sends nothing if the remote is unreachable', async () => {
    await sandbox.withRemote()
    const place = workspaceIn('clone')
    rmSync(join(sandbox.folder, 'remote.git'), { recursive: true })
    const { code, err } = await place.cli('apply', '--yes')
    expect(code).toBe(1)
    expect(err).toMatch(/the state on the remote origin can't be reached/)
    expect(await fetchConfig(emulator, 'a.example.com')).toEqual({})
  })

  it('with state in a folder must name one store', async () => {
    await sandbox.repository('alone')
    const place = workspaceIn('alone', 'state: {store: dir}\n')
    await place.settle()
    workspaceIn('alone')
    const { code, err } = await place.cli('plan')
    expect(code).toBe(1)
    expect(err).toContain('already has the state of "default"')
    expect(err).toContain('"state: {store: dir}" in edgewise.yaml keeps that state')
    expect(err).toContain('"state: {store: git}" begins with empty state')
  })

  it('refuses the git store outside a git repository', async () => {
    const place = new Place(emulator.url, 'state: {store: git}\n', { state: '' })
    const { code, err } = await place.manifest('www.example.com', {}).cli('plan')
    place.remove()
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not in a git repository') as string,
    })
  })

  it.each([
    [
      'shallow',
      (s: GitSandbox) =>
        s.git('.', 'clone', '--quiet', '--depth=1', `file://${s.folder}/remote.git`, 'place'),
    ],
    [
      'detached',
      async (s: GitSandbox) => {
        await s.git('.', 'clone', '--quiet', 'remote.git', 'place')
        return s.git('place', 'checkout', '--quiet', '--detach')
      },
    ],
    [
      'a work tree',
      (s: GitSandbox) => s.git('clone', 'worktree', 'add', '--quiet', '--detach', '../place'),
    ],
  ])('works in a checkout that is %s', async (_how, make) => {
    await sandbox.withRemote()
    await workspaceIn('clone').settle()
    await make(sandbox)
    const place = workspaceIn('place').manifest('b.example.com', { timeout: { time: '20' } })
    await place.settle()
    expect((await place.json('state', 'history'))['applies']).toHaveLength(2)
    expect(
      (await sandbox.git('remote.git', 'log', '--oneline', branch)).split('\n').length,
    ).toBeGreaterThan(4)
  })

  it('ignores the variables that git sets for its hooks', async () => {
    await sandbox.withRemote()
    await sandbox.repository('victim')
    const before = await sandbox.git('victim', 'for-each-ref')
    const place = workspaceIn('clone')
    const victim = join(sandbox.folder, 'victim', '.git')
    place.env = {
      ...place.env,
      GIT_DIR: victim,
      GIT_WORK_TREE: join(sandbox.folder, 'victim'),
      GIT_INDEX_FILE: join(victim, 'index'),
      GIT_OBJECT_DIRECTORY: join(victim, 'objects'),
      GIT_NAMESPACE: 'elsewhere',
      GIT_PREFIX: 'sub/',
    }
    await place.settle()
    expect(await sandbox.git('victim', 'for-each-ref')).toBe(before)
    expect(await sandbox.git('remote.git', 'rev-parse', branch)).toBe(
      await sandbox.git('clone', 'rev-parse', branch),
    )
  })

  it('runs no hook of the repository', async () => {
    const clone = await sandbox.withRemote()
    const mark = join(sandbox.folder, 'hook-ran')
    for (const hook of ['pre-push', 'reference-transaction', 'post-commit']) {
      writeFileSync(
        join(clone, '.git', 'hooks', hook),
        `#!/bin/sh\necho ${hook} >> ${mark}\nexit 1\n`,
        { mode: 0o755 },
      )
    }
    await workspaceIn('clone').settle()
    expect(existsSync(mark)).toBe(false)
  })

  it('commits as Edgewise without a git identity', async () => {
    await sandbox.withRemote()
    const place = workspaceIn('clone')
    place.env = { ...place.env, GIT_CONFIG_KEY_0: 'user.useConfigOnly', GIT_CONFIG_VALUE_0: 'true' }
    await place.settle()
    expect(await sandbox.git('remote.git', 'log', '-1', '--format=%cn', branch)).toBe('Edgewise')
    place.env = { ...place.env, GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' }
    await place.manifest('a.example.com', { timeout: { time: '11' } }).settle()
    expect(await sandbox.git('remote.git', 'log', '-1', '--format=%cn', branch)).toBe('Ann')
  })

  itLong('names outcomes that the remote refuses, and shares them later', async () => {
    await sandbox.withRemote('remote.git', 'clone', 'other')
    const hook = join(sandbox.folder, 'remote.git', 'hooks', 'pre-receive')
    await shareLater(
      [workspaceIn('clone'), workspaceIn('other')],
      () => writeFileSync(hook, '#!/bin/sh\necho protected >&2\nexit 1\n', { mode: 0o755 }),
      /.*protected/,
      () => rmSync(hook),
    )
  })

  it('names the work tree that has the state branch checked out, and sends nothing', async () => {
    await sandbox.repository('alone')
    const place = workspaceIn('alone')
    await place.settle()
    await sandbox.git('alone', 'worktree', 'add', '--quiet', '../look', branch)
    const { code, err } = await place
      .manifest('a.example.com', { timeout: { time: '11' } })
      .cli('apply', '--yes')
    expect(code).toBe(1)
    expect(err).toMatch(/checked out in .*look/)
    expect(await fetchConfig(emulator, 'a.example.com')).toMatchObject({ timeout: { time: '10' } })
  })

  it('refuses a state branch with other content, and leaves it unchanged', async () => {
    await sandbox.withRemote()
    await sandbox.git('clone', 'checkout', '--quiet', '--detach')
    const before = await sandbox.git('remote.git', 'for-each-ref')
    const { code, err } = await workspaceIn('clone', 'state: {store: git, branch: main}\n').cli(
      'apply',
      '--yes',
    )
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining('the branch main does not contain Edgewise state') as string,
    })
    expect(await sandbox.git('remote.git', 'for-each-ref')).toBe(before)
  })

  it('refuses unrelated state branches of two clones', async () => {
    await sandbox.withRemote()
    await workspaceIn('clone').settle()
    await sandbox.repository('alone')
    const place = workspaceIn('alone')
    await place.settle()
    await sandbox.git('alone', 'remote', 'add', 'origin', '../remote.git')
    const { code, err } = await place.cli('plan')
    expect(code).toBe(1)
    expect(err).toContain('no common history')
  })

  it('passes no token to git and its child processes', async () => {
    const clone = await sandbox.withRemote()
    const seen = join(sandbox.folder, 'seen')
    await sandbox.git(
      'clone',
      'config',
      'remote.origin.uploadpack',
      `env > ${seen}; git-upload-pack`,
    )
    const place = workspaceIn('clone')
    place.env = { ...place.env, SOME_SECRET: 'hush', GITHUB_TOKEN: place.env['EDGEWISE_TOKEN'] }
    await place.settle()
    const environment = readFileSync(seen, 'utf8')
    expect(environment).toContain('GIT_TERMINAL_PROMPT=0')
    expect(environment).not.toContain(place.env['EDGEWISE_TOKEN'])
    expect(environment).not.toContain('hush')
    expect(clone).not.toBe('')
  })

  it('prints no input of git, even if DEBUG is set', async () => {
    await sandbox.withRemote()
    const place = workspaceIn('clone')
    const env = { ...place.env, DEBUG: '*', GITHUB_TOKEN: 'of the code host' }
    const { stdout: out, stderr: err } = spawnSync(process.execPath, [program, 'plan'], {
      cwd: place.root,
      env,
      encoding: 'utf8',
    })
    const output = `${out}${err}`
    expect(output).toContain('1 write')
    expect(output).not.toMatch(/simple-git|of the code host/)
  })
})
