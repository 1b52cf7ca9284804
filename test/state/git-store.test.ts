// @module-tag often
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { itLong } from '../runs.ts'
import { GitSandbox } from './git-sandbox.ts'
import { pruneBehindClone } from '../stories/prune.ts'
import { branch, Two } from './two-clones.ts'
import {
  buildApplied,
  buildItem,
  storeContract,
  type Kind,
  buildTimeout,
  begin,
  complete,
} from './store-contract.ts'

async function inGit(remote: boolean): Promise<Kind> {
  const sandbox = new GitSandbox()
  if (remote) await sandbox.withRemote()
  else await sandbox.repository('clone')
  let processes = 0
  /** Opened once for each folder: the repository keeps nothing of a store. */
  const repositories = new Map<string, Promise<GitRepository>>()
  const openGit = (where: string) => {
    const repository = repositories.get(where) ?? sandbox.open(where)
    repositories.set(where, repository)
    return repository
  }
  const openIn =
    (where: string) =>
    async (
      id = 'default',
      address = 'https://api.example.net',
      account = 'default',
    ): Promise<OpenState> =>
      openState(
        {
          root: `${sandbox.folder}/${where}`,
          id,
          address,
          account,
          state: { store: 'git', branch, remote: 'origin', path: 'state' },
        },
        { disk: realDisk, processName: `p${++processes}`, openGit: () => openGit(where) },
      )
  const shared = remote ? 'remote.git' : 'clone'
  return {
    open: openIn('clone'),
    elsewhere: async () => {
      if (!remote) return openIn('clone')()
      const other = `other-${++processes}`
      await sandbox.addClone(other)
      return openIn(other)()
    },
    damage: async (name, change) => {
      const clone = await openGit('clone')
      const path = (await sandbox.git(shared, 'ls-tree', '-r', '--name-only', branch))
        .split('\n')
        .find((file) => file.endsWith(name) && !file.includes('/open/'))
      if (path === undefined) throw new Error(`expected a file ${name} on the branch`)
      const tip = await sandbox.git(shared, 'rev-parse', branch)
      const text = (await clone.loadFiles(tip, path)).get(path) ?? ''
      const damaged = await clone.commit(tip, new Map([[path, change(text)]]), 'damage')
      await clone.move(`refs/heads/${branch}`, await clone.findTip(`refs/heads/${branch}`), damaged)
      if (remote) await clone.push(`refs/heads/${branch}`, tip, damaged)
    },
    everything: async () => [
      await sandbox.git('clone', 'for-each-ref', 'refs/heads'),
      await sandbox.git(shared, 'for-each-ref'),
      await sandbox.git('clone', 'status', '--porcelain'),
    ],
    remove: () => sandbox.remove(),
  }
}

describe('state of two clones', () => {
  let two: Two
  beforeEach(async () => {
    two = await Two.make()
  })
  afterEach(() => two.sandbox.remove())

  describe('another process on the same branch', () => {
    it('with other state is built upon, and neither loses anything', async () => {
      const [mine, theirs] = [await two.open('clone', 'mine'), await two.open('other', 'theirs')]
      for (const n of ['1', '2']) {
        await mine.save(buildTimeout('a.example.com', n), `mine ${n}`)
        await theirs.save(buildTimeout('b.example.com', `${n}0`), `theirs ${n}`)
      }
      expect(await two.log()).toEqual(['mine 1', 'theirs 1', 'mine 2', 'theirs 2'])
      for (const where of ['clone', 'other']) {
        expect(await (await two.open(where, 'mine')).load()).toEqual(
          buildTimeout('a.example.com', '2'),
        )
        expect(await (await two.open(where, 'theirs')).load()).toEqual(
          buildTimeout('b.example.com', '20'),
        )
      }
    })

    it('keeps outcomes that were recorded here and not shared before', async () => {
      const mine = await two.open('clone', 'mine')
      await begin(mine, 'one', buildTimeout('a.example.com', '1'))
      await mine.recordOutcomes(buildApplied('one'), [1], buildTimeout('a.example.com', '2'))
      await mine.saveCalls('one', [{ at: 1, boot: 'b', up: 1 }])
      const theirs = await two.open('other', 'theirs')
      await theirs.save(buildTimeout('b.example.com', '7'), 'theirs')
      await complete(mine, 'one')
      await mine.share?.()
      const seen = await two.open('other', 'mine')
      expect(await seen.load()).toEqual(buildTimeout('a.example.com', '2'))
      expect(await seen.listApplies()).toMatchObject([{ id: 'one', outcome: 'complete' }])
      expect((await seen.loadCalls()).calls).toEqual([{ at: 1, boot: 'b', up: 1 }])
      expect(await (await two.open('clone', 'theirs')).load()).toEqual(
        buildTimeout('b.example.com', '7'),
      )
    })

    it('that writes to the same state stops the work here and is left unchanged', async () => {
      const [mine, theirs] = [await two.open('clone'), await two.open('other')]
      await theirs.save(buildTimeout('a.example.com', '7'), 'theirs')
      await expect(mine.save(buildTimeout('b.example.com', '1'), 'mine')).rejects.toMatchObject({
        code: 'record-moved',
        message: expect.stringContaining('another process has written this state') as string,
      })
      expect(await two.log()).toEqual(['theirs'])
      expect(await (await two.open('clone')).load()).toEqual(buildTimeout('a.example.com', '7'))
    })

    itLong('that is always faster causes an error', async () => {
      const theirs = await two.open('other', 'theirs')
      let pushes = 0
      const mine = await two.open('clone', 'mine', (git) => ({
        ...git,
        push: async (...given) => {
          await theirs.save(buildTimeout('b.example.com', String(++pushes)), `theirs ${pushes}`)
          return git.push(...given)
        },
      }))
      await expect(mine.save(buildTimeout('a.example.com', '1'), 'mine')).rejects.toMatchObject({
        code: 'record-unreachable',
      })
      expect(await (await two.open('clone', 'mine')).load()).toEqual(new Map())
    })

    it('in the same clone without a remote is built upon too', async () => {
      await two.sandbox.repository('alone')
      const [mine, theirs] = [await two.open('alone', 'mine'), await two.open('alone', 'theirs')]
      await mine.save(buildTimeout('a.example.com', '1'), 'mine')
      await theirs.save(buildTimeout('b.example.com', '2'), 'theirs')
      await mine.save(buildTimeout('a.example.com', '3'), 'mine')
      expect(await (await two.open('alone', 'mine')).load()).toEqual(
        buildTimeout('a.example.com', '3'),
      )
      expect(await (await two.open('alone', 'theirs')).load()).toEqual(
        buildTimeout('b.example.com', '2'),
      )
    })

    it.each(['clone', 'alone'])(
      'with another id claims no domain of this one (%s)',
      async (name) => {
        if (name === 'alone') await two.sandbox.repository(name)
        const other = name === 'alone' ? name : 'other'
        const [mine, theirs] = [await two.open(name, 'mine'), await two.open(other, 'theirs')]
        const state = buildTimeout('a.example.com', '1')
        await mine.save(state, 'mine')
        await expect(theirs.save(state, 'theirs')).rejects.toMatchObject({
          code: 'owned-elsewhere',
        })
        await theirs.save(buildTimeout('b.example.com', '2'), 'theirs')
        expect([...(await (await two.open(name, 'theirs')).load()).keys()]).toEqual([
          'b.example.com',
        ])
      },
    )

    it('that prunes leaves newer state with fewer files, also for a clone behind it', async () => {
      await pruneBehindClone(two)
    })

    it.each(['clone', 'alone'])('that is faster does not stop a move (%s)', async (name) => {
      if (name === 'alone') await two.sandbox.repository(name)
      const other = name === 'alone' ? name : 'other'
      const mine = await two.open(name, 'mine')
      const state = buildTimeout('a.example.com', '1')
      await mine.save(state, 'mine')
      const [faster, target] = [await two.open(other, 'third'), await two.open(other, 'target')]
      await faster.save(buildTimeout('c.example.com', '3'), 'third')
      await target.save(buildTimeout('b.example.com', '2'), 'target')
      await mine.move(state, 'target', 'Move')
      const load = async (id: string) => [...(await (await two.open(other, id)).load()).keys()]
      expect([await load('mine'), await load('third'), await load('target')]).toEqual([
        [],
        ['c.example.com'],
        ['a.example.com', 'b.example.com'],
      ])
    })
  })

  describe('a push', () => {
    const hook = (text: string) =>
      writeFileSync(`${two.sandbox.folder}/remote.git/hooks/pre-receive`, `#!/bin/sh\n${text}\n`, {
        mode: 0o755,
      })

    it('refused by the remote reports the reason and leaves the state unchanged', async () => {
      const store = await two.open('clone')
      await store.save(buildTimeout('a.example.com', '1'), 'first')
      hook('echo "branch is protected" >&2; exit 1')
      const refused = {
        code: 'record-unreachable',
        message: expect.stringContaining('branch is protected') as string,
      }
      await expect(store.save(buildTimeout('a.example.com', '2'), 'second')).rejects.toMatchObject(
        refused,
      )
      await expect(begin(store, 'one', buildTimeout('a.example.com', '1'))).rejects.toMatchObject(
        refused,
      )
      expect(await (await two.open('clone')).load()).toEqual(buildTimeout('a.example.com', '1'))
      rmSync(`${two.sandbox.folder}/remote.git/hooks/pre-receive`)
      await store.save(buildTimeout('b.example.com', '3'), 'third')
      expect(await two.log()).toEqual(['first', 'third'])
      expect((await (await two.open('other')).load()).get('a.example.com')).toEqual(
        new Map([['timeout', buildItem('1')]]),
      )
    })

    it('counts if it took effect and its answer was lost', async () => {
      const store = await two.open('clone')
      await store.save(buildTimeout('a.example.com', '1'), 'first')
      // Receives everything, then reports a failure.
      const lossy = join(two.sandbox.folder, 'receive')
      writeFileSync(lossy, '#!/bin/sh\ngit-receive-pack "$@"\nexit 1\n', { mode: 0o755 })
      await two.sandbox.git('clone', 'config', 'remote.origin.receivepack', lossy)
      await store.save(buildTimeout('a.example.com', '2'), 'second')
      expect(await two.log()).toEqual(['first', 'second'])
    })

    it('reports no credentials of the address', async () => {
      await two.sandbox.git(
        'clone',
        'remote',
        'set-url',
        'origin',
        'http://user:hunter2@127.0.0.1:9/x.git',
      )
      const failure = await two.open('clone').then(
        () => null,
        (error: Error) => error,
      )
      expect(failure?.message).toMatch(/remote origin can't be reached/)
      expect(failure?.message).not.toContain('hunter2')
    })
  })

  it('intents that this clone cannot record are not pushed', async () => {
    const store = await two.open('clone')
    await store.save(buildTimeout('a.example.com', '1'), 'first')
    await two.sandbox.git('clone', 'worktree', 'add', '--quiet', '../look', branch)
    const next = await two.open('clone')
    const intent = () => begin(next, 'one', buildTimeout('a.example.com', '1'))
    await expect(intent()).rejects.toMatchObject({
      message: expect.stringContaining('is checked out in') as string,
    })
    expect(await two.log()).toEqual(['first'])
    await two.sandbox.git('look', 'checkout', '--quiet', '--detach')
    writeFileSync(`${two.sandbox.folder}/clone/.git/refs/heads/${branch}.lock`, '')
    await expect(intent()).rejects.toMatchObject({
      message: expect.stringContaining(`${branch}.lock`) as string,
    })
    expect(await two.log()).toEqual(['first'])
  })

  it('state of a clone that has its empty branch checked out is not pushed', async () => {
    const store = await two.open('clone')
    await two.sandbox.git('clone', 'symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    await expect(store.save(buildTimeout('a.example.com', '1'), 'first')).rejects.toMatchObject({
      message: expect.stringContaining('is checked out in') as string,
    })
    expect(await two.sandbox.git('remote.git', 'branch', '--list', branch)).toBe('')
  })

  describe('a branch deleted from the remote', () => {
    it.each([
      ['of all branches', []],
      [
        'of one branch only',
        ['config', 'remote.origin.fetch', '+refs/heads/main:refs/remotes/origin/main'],
      ],
    ])('is not restored from the copy in a clone %s', async (_kind, setting) => {
      if (setting.length > 0) await two.sandbox.git('clone', ...setting)
      await (await two.open('clone')).save(buildTimeout('a.example.com', '1'), 'first')
      await (await two.open('other')).save(buildTimeout('a.example.com', '2'), 'second')
      await two.sandbox.git('remote.git', 'update-ref', '-d', `refs/heads/${branch}`)
      const gone = {
        code: 'state-rewound',
        message: expect.stringContaining('was deleted') as string,
      }
      await expect(two.open('clone')).rejects.toMatchObject(gone)
      await expect(two.open('other')).rejects.toMatchObject(gone)
      // The message recommends this push.
      await two.sandbox.git('other', 'push', '--quiet', 'origin', branch)
      expect((await (await two.open('clone')).load()).get('a.example.com')).toEqual(
        new Map([['timeout', buildItem('2')]]),
      )
    })

    it('is not assumed if the remote is new: it receives the state of this clone', async () => {
      await two.sandbox.git('other', 'remote', 'remove', 'origin')
      await (await two.open('other')).save(buildTimeout('a.example.com', '1'), 'alone')
      await two.sandbox.git('other', 'remote', 'add', 'origin', '../remote.git')
      await (await two.open('other')).save(buildTimeout('b.example.com', '2'), 'shared')
      expect(await two.log()).toEqual(['alone', 'shared'])
    })
  })

  describe('a branch that changes during a command', () => {
    const ref = `refs/heads/${branch}`

    it.each<[string, () => Promise<unknown>, RegExp]>([
      ['deleted', () => two.sandbox.git('remote.git', 'update-ref', '-d', ref), /was deleted/],
      [
        'set back',
        () => two.sandbox.git('remote.git', 'update-ref', ref, `${ref}~1`),
        /was set back/,
      ],
      [
        'replaced',
        async () => {
          await two.sandbox.git('remote.git', 'update-ref', ref, `${ref}~1`)
          const other = await two.open('other')
          await other.save(buildTimeout('a.example.com', '9'), 'theirs')
        },
        /was set back/,
      ],
    ])('is %s: the error says so', async (_how, change, message) => {
      const store = await two.open('clone')
      await store.save(buildTimeout('a.example.com', '1'), 'first')
      await store.save(buildTimeout('a.example.com', '2'), 'second')
      await change()
      await expect(store.save(buildTimeout('a.example.com', '3'), 'third')).rejects.toMatchObject({
        code: 'state-rewound',
        message: expect.stringMatching(message) as string,
      })
    })
  })

  it('a partial clone fetches all files of the state in few requests', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `d${i}.example.com`)
    const recorded = new Map(
      names.map((name, i) => [name, new Map([['timeout', buildItem(String(20 + i))]])]),
    )
    await (await two.open('clone')).save(recorded, 'first')
    await two.sandbox.git('remote.git', 'config', 'uploadpack.allowFilter', 'true')
    await two.sandbox.git(
      '.',
      'clone',
      '--quiet',
      '--filter=blob:none',
      `file://${two.sandbox.folder}/remote.git`,
      'partial',
    )
    // Logs each request to the remote.
    const log = join(two.sandbox.folder, 'requests')
    const script = `#!/bin/sh\necho request >> ${log}\nexec git-upload-pack "$@"\n`
    writeFileSync(`${log}.sh`, script, { mode: 0o755 })
    await two.sandbox.git('partial', 'config', 'remote.origin.uploadpack', `${log}.sh`)
    expect(await (await two.open('partial')).load()).toEqual(recorded)
    expect(readFileSync(log, 'utf8').trim().split('\n').length).toBeLessThan(10)
  })

  it('push options and a mirror setting do not affect a push', async () => {
    await two.sandbox.git('clone', 'config', 'push.pushOption', 'ci.skip')
    await two.sandbox.git('clone', 'config', 'remote.origin.mirror', 'true')
    await (await two.open('clone')).save(buildTimeout('a.example.com', '1'), 'first')
    expect(await two.log()).toEqual(['first'])
  })

  it('a missing object of the state is an error, not an empty state', async () => {
    const store = await two.open('clone')
    await store.save(buildTimeout('a.example.com', '1'), 'first')
    const file = (await two.sandbox.git('clone', 'ls-tree', '-r', branch))
      .split('\n')
      .find((line) => line.endsWith('a.example.com.json'))
    const id = file?.split(/\s/)[2] ?? ''
    rmSync(`${two.sandbox.folder}/clone/.git/objects/${id.slice(0, 2)}/${id.slice(2)}`)
    await expect(two.open('clone')).rejects.toMatchObject({
      code: 'record-damaged',
      message: expect.stringContaining('a.example.com.json') as string,
    })
  })
})

const [own, shared] = [
  { own: it, shared: itLong, every: false },
  { own: itLong, shared: it, every: false },
]
storeContract('git without a remote', () => inGit(false), own)
storeContract('git with a remote', () => inGit(true), shared)
