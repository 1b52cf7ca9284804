// @module-tag often
// @module-tag nightly
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RecordedState } from '../../src/state/store/store.ts'
import {
  buildTimeout,
  listCommands,
  refuseOpening,
  restoreSetBack,
  runCommands,
} from '../stories/set-back.ts'
import { branch, Two } from './two-clones.ts'

const ref = `refs/heads/${branch}`

describe('state that was set back on the remote', () => {
  let template: Two
  let two: Two
  /** Commits of the branch, first to last. */
  let commits: string[]
  beforeAll(async () => {
    template = await Two.make()
    const store = await template.open('clone')
    for (const time of ['1', '2', '3']) await store.save(buildTimeout(time), `save ${time}`)
    const listed = await template.sandbox.git('remote.git', 'rev-list', '--reverse', branch)
    commits = listed.split('\n')
  })
  afterAll(() => template.sandbox.remove())
  beforeEach(() => {
    two = template.copy()
  })
  afterEach(() => two.sandbox.remove())

  const setBack = async (to: string) => {
    await two.sandbox.git('remote.git', 'update-ref', ref, to)
    return to
  }
  const fail = (where: string) => refuseOpening(two, where)
  const run = (where: string, commands: string[][]) => runCommands(two, where, commands)
  const load = async (where: string): Promise<RecordedState> => (await two.open(where)).load()

  it('is refused with both commits by a clone that wrote the newer state', async () => {
    const [, old = '', newest = ''] = commits
    await setBack(old)
    for (let times = 0; times < 2; times++) {
      const error = await fail('clone')
      expect(error.code).toBe('state-rewound')
      expect(error.message).toContain('was set back')
      expect(error.message).toContain(old)
      expect(error.message).toContain(newest)
    }
  })

  it('is refused by a clone that only loaded the newer state', async () => {
    await load('other')
    await setBack(commits[1] ?? '')
    expect((await fail('other')).code).toBe('state-rewound')
  })

  it('is refused by a clone that git fetched with the newer state', async () => {
    await two.sandbox.git('.', 'clone', '--quiet', 'remote.git', 'fetched')
    await setBack(commits[1] ?? '')
    expect((await fail('fetched')).code).toBe('state-rewound')
  })

  it('is not detected by a fresh clone', async () => {
    await setBack(commits[1] ?? '')
    expect(await load('other')).toEqual(buildTimeout('2'))
  })

  it('is refused if another clone has written to the older state', async () => {
    await setBack(commits[0] ?? '')
    await (await two.open('other')).save(buildTimeout('9'), 'on top of the old one')
    const error = await fail('clone')
    expect(error.code).toBe('state-rewound')
    await run('clone', listCommands(error, 'restore'))
    expect(await load('clone')).toEqual(buildTimeout('3'))
    expect((await fail('other')).code).toBe('state-rewound')
    await run('other', listCommands(await fail('other'), 'accept'))
    expect(await load('other')).toEqual(buildTimeout('3'))
  })

  it('is restored by the first way out', async () => {
    await setBack(commits[0] ?? '')
    await restoreSetBack(two, '3')
    expect(await two.sandbox.git('remote.git', 'rev-parse', ref)).toBe(commits[2])
  })

  it.each(['clone', 'fetched'])('is accepted by the second way out in the %s', async (where) => {
    if (where === 'fetched') await two.sandbox.git('.', 'clone', '--quiet', 'remote.git', 'fetched')
    await setBack(commits[0] ?? '')
    await run(where, listCommands(await fail(where), 'accept'))
    const store = await two.open(where)
    expect(await store.load()).toEqual(buildTimeout('1'))
    await store.save(buildTimeout('7'), 'goes on')
    expect(await two.log()).toEqual(['save 1', 'goes on'])
    // A further reset is refused again.
    await setBack(commits[0] ?? '')
    expect((await fail(where)).code).toBe('state-rewound')
  })

  it('is refused in a shallow clone, whose history is completed for it', async () => {
    const url = `file://${two.sandbox.folder}/remote.git`
    await two.sandbox.git('.', 'clone', '--quiet', '--depth=1', '--no-single-branch', url, 'thin')
    expect(await load('thin')).toEqual(buildTimeout('3'))
    const store = await two.open('clone')
    for (const time of ['4', '5', '6']) await store.save(buildTimeout(time), `save ${time}`)
    const tracking = `refs/remotes/origin/${branch}`
    await two.sandbox.git('thin', 'fetch', '--quiet', '--depth=1', 'origin', `+${ref}:${tracking}`)
    expect(await load('thin')).toEqual(buildTimeout('6'))
    // The branches of other people stay shallow.
    expect(readFileSync(join(two.sandbox.folder, 'thin', '.git', 'shallow'), 'utf8')).toContain(
      await two.sandbox.git('thin', 'rev-parse', 'origin/main'),
    )
    await setBack(commits[1] ?? '')
    expect((await fail('thin')).code).toBe('state-rewound')
  })

  it('does not count as a descendant of a commit whose object is missing', async () => {
    const [, old = '', newest = ''] = commits
    await two.sandbox.git('clone', 'branch', '--quiet', '-D', branch)
    await setBack(old)
    const file = join('objects', newest.slice(0, 2), newest.slice(2))
    rmSync(join(two.sandbox.folder, 'clone', '.git', file))
    expect(['state-rewound', 'unavailable']).toContain((await fail('clone')).code)
  })

  it('is not assumed if another process of this clone has seen more meanwhile', async () => {
    await load('other')
    const late = await two.open('other', 'default', (git) => ({
      ...git,
      fetch: async (name) => {
        const there = await git.fetch(name)
        // Another process fetches a newer commit before this one goes on.
        await (await two.open('clone')).save(buildTimeout('4'), 'save 4')
        await two.open('other')
        return there
      },
    }))
    expect(late.location).toContain(branch)
    expect(await load('other')).toEqual(buildTimeout('4'))
    await setBack(commits[2] ?? '')
    expect((await fail('other')).code).toBe('state-rewound')
  })

  it('is refused by a process that opened it before this clone saw more', async () => {
    await setBack(commits[1] ?? '')
    await load('other')
    const late = await two.open('other')
    await setBack(commits[2] ?? '')
    await load('other')
    await setBack(commits[1] ?? '')
    await expect(late.save(buildTimeout('9'), 'late')).rejects.toMatchObject({
      code: 'state-rewound',
      message: expect.stringContaining(commits[2] ?? '-') as string,
    })
    expect(await two.sandbox.git('remote.git', 'rev-parse', ref)).toBe(commits[1])
  })

  describe('by its deletion', () => {
    beforeEach(() => two.sandbox.git('remote.git', 'update-ref', '-d', ref))

    it('is refused by each clone that has seen it', async () => {
      const error = await fail('clone')
      expect(error.code).toBe('state-rewound')
      expect(error.message).toContain('was deleted')
      expect(error.message).toContain(commits[2])
    })

    it('is restored by the first way out', async () => {
      await restoreSetBack(two, '3')
    })

    it('is accepted by the second way out', async () => {
      await run('clone', listCommands(await fail('clone'), 'empty state'))
      const store = await two.open('clone')
      expect(await store.load()).toEqual(new Map())
      await store.save(buildTimeout('7'), 'begins')
      expect(await two.log()).toEqual(['begins'])
    })
  })
})

it('a branch without a remote that was set back during an apply is reported as such', async () => {
  const two = new Two()
  await two.sandbox.repository('alone')
  const store = await two.open('alone')
  for (const time of ['1', '2']) await store.save(buildTimeout(time), `save ${time}`)
  await two.sandbox.git('alone', 'update-ref', ref, `${ref}~1`)
  await expect(store.save(buildTimeout('3'), 'save 3')).rejects.toMatchObject({
    code: 'state-rewound',
    message: expect.stringContaining('was set back') as string,
  })
  await two.sandbox.git('alone', 'update-ref', '-d', ref)
  await expect(store.save(buildTimeout('3'), 'save 3')).rejects.toMatchObject({
    code: 'state-rewound',
    message: expect.stringContaining('was deleted') as string,
  })
  two.sandbox.remove()
})
