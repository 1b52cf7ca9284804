import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import {
  buildBudgetPath,
  buildBudgetPathAt,
  buildLockPath,
  buildLockPathAt,
  buildOldAddressName,
  buildStatePathsAt,
  buildUserBudgetPath,
} from '../../src/state/format/state-paths.ts'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { loadUnfinished } from '../../src/state/load-journal.ts'
import { openState, type OpenState } from '../../src/state/open-state.ts'
import { getRegister } from './contender.ts'
import { findOwners, listIntended } from '../../src/state/owners.ts'
import type { Register } from '../../src/state/register.ts'
import { itOften, runs } from '../runs.ts'
import { moveBranchToOldPaths, moveToOldPaths } from './old-paths.ts'
import { buildApplied, buildDomain, buildItem, buildWave } from './store-contract.ts'
import { branch, Two } from './two-clones.ts'

const address = 'https://api.example.net/cdn'
const spelling = 'https://API.example.net:443/x/../cdn'
const [www, img] = ['www.example.com', 'img.example.com']

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-old-paths-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (id = 'default', url = address, disk: Disk = realDisk): Promise<OpenState> =>
  openState(
    {
      root: folder,
      id,
      address: url,
      account: 'default',
      state: { store: 'dir', branch: 'edgewise-state', remote: 'origin', path: 'state' },
    },
    { disk, processName: 'p', openGit: () => Promise.reject(new Error('expected no git')) },
  )

/** Opens state like a command with the lock; `locks` are the locations of the old locks in use. */
async function openLocked(url = address, disk = realDisk, locks: string[] = []) {
  const state = await open('default', url, disk)
  state.allowMoves(async (registers: Register[], work) => {
    locks.push(...registers.map(({ location }) => location))
    await work()
  })
  return state
}

const stateFolder = () => join(folder, 'state')

/** Records an apply with an unfinished write, an ended one, and a rollout-free history. */
async function recordAll(id = 'default') {
  const { store } = await open(id)
  const before = buildDomain(www, { timeout: buildItem('1') })
  await store.save(new Map([...before, ...buildDomain(img, { timeout: buildItem('2') })]), 'test')
  await store.recordIntents(buildApplied('ended'), buildWave('ended', before))
  await store.recordOutcomes(
    buildApplied('ended'),
    [1],
    buildDomain(www, { timeout: buildItem('99', { apply: 'ended' }) }),
  )
  await store.endApply(buildApplied('ended', { outcome: 'complete' }))
  const now = await store.load()
  await store.recordIntents(buildApplied('killed'), buildWave('killed', now))
  await store.prune([buildApplied('ended', { outcome: 'complete' })], 'test')
  await store.recordIntents(buildApplied('lost'), buildWave('lost', now))
  await store.endApply(buildApplied('lost', { outcome: 'incomplete' }))
  await store.markDoubtful('lost', [1], [])
}

/** Returns everything that a command finds. */
async function loadAll({ store }: OpenState) {
  return {
    recorded: await store.load(),
    applies: await store.listApplies(),
    pruned: await store.listPruned(),
    before: await store.loadStateBefore('killed'),
    unfinished: store.listUnfinished(),
  }
}

describe('two spellings of an address', () => {
  it('share lock and call budget', () => {
    for (const build of [buildLockPath, buildBudgetPath, buildUserBudgetPath])
      expect(build(spelling, 'default')).toBe(build(address, 'default'))
    expect(buildLockPath('https://api.example.net', 'default')).not.toBe(
      buildLockPath(address, 'default'),
    )
  })

  it('share state and ownership, and the path contains nothing of the address', async () => {
    await recordAll()
    expect(await loadAll(await open('default', spelling))).toEqual(await loadAll(await open()))
    const { store } = await open('other', spelling)
    expect(await store.findOwners([www, 'new.example.com'])).toEqual(new Map([[www, 'default']]))
    expect(await store.listOtherAddresses()).toEqual([])
    expect(getRegister(await open()).location).not.toContain('example')
  })
})

describe('state at the path of an earlier program', () => {
  it.each([address, spelling])('stored for %s is found without the lock', async (stored) => {
    await recordAll()
    const before = await loadAll(await open())
    moveToOldPaths(stateFolder(), 'default', address, stored)
    expect(await loadAll(await open())).toEqual(before)
    expect(await (await open()).store.listOtherAddresses()).toEqual([])
    expect(await (await open('other')).store.findOwners([www])).toEqual(new Map([[www, 'default']]))
    expect(await (await open('other')).store.knowsWorkspace('default')).toBe(true)
  })

  it('is moved under the old lock, once', async () => {
    await recordAll()
    const before = await loadAll(await open())
    moveToOldPaths(stateFolder(), 'default', address, spelling)
    const locks: string[] = []
    const state = await openLocked(address, realDisk, locks)
    expect(await loadAll(state)).toEqual(before)
    const old = buildOldAddressName(spelling)
    expect(locks).toEqual([join(stateFolder(), 'lock', old, 'default')])
    expect(
      existsSync(join(stateFolder(), 'default', old, 'domains', '..', 'pruned', 'applies.json')),
    ).toBe(false)
    expect(await loadAll(await openLocked(address, realDisk, locks))).toEqual(before)
    expect(locks).toHaveLength(1)
    expect(await loadAll(await open())).toEqual(before)
  })

  it('is listed once, also after the move, for another address', async () => {
    await recordAll()
    moveToOldPaths(stateFolder(), 'default', address, spelling)
    const list = async () =>
      (await open('default', 'https://other.example.net')).store.listOtherAddresses()
    expect(await list()).toEqual([spelling])
    await (await openLocked()).store.load()
    expect(await list()).toEqual([address])
  })

  it.each(['budget', 'lock'])('is moved without lock and call budget: id %s', async (id) => {
    await recordAll(id)
    const before = await loadAll(await open(id))
    moveToOldPaths(stateFolder(), id, address, spelling)
    const others = [
      join(stateFolder(), buildLockPath(address, 'default'), '1.json'),
      join(stateFolder(), buildLockPathAt(buildOldAddressName(spelling), 'default'), '1.json'),
      join(stateFolder(), buildBudgetPath(address, 'default')),
      join(stateFolder(), buildBudgetPathAt(buildOldAddressName(spelling), 'default')),
    ]
    for (const path of others) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, path)
    }
    const state = await open(id)
    state.allowMoves((_locks, work) => work())
    expect(await loadAll(state)).toEqual(before)
    expect(others.filter((path) => !existsSync(path))).toEqual([])
    for (const path of others) expect(readFileSync(path, 'utf8')).toBe(path)
  })

  itOften('is complete after a kill between any two steps of the move', async () => {
    await recordAll()
    const before = await loadAll(await open())
    moveToOldPaths(stateFolder(), 'default', address, spelling)
    const copy = join(folder, 'copy')
    cpSync(stateFolder(), copy, { recursive: true })
    let [isDone, steps] = [false, 0]
    for (; !isDone; steps += runs(5, 1)) {
      rmSync(stateFolder(), { recursive: true })
      cpSync(copy, stateFolder(), { recursive: true })
      let left = steps
      const step =
        <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
        (...args: A): Promise<T> => {
          if (left-- <= 0) throw new Error('killed')
          return work(...args)
        }
      const { create, rename, remove, makeFolder } = realDisk
      const killing: Disk = {
        ...realDisk,
        create: step(create),
        rename: step(rename),
        remove: step(remove),
        makeFolder: step(makeFolder),
      }
      const { store } = await openLocked(address, killing)
      isDone = await store.load().then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('killed')
          return false
        },
      )
      expect([steps, await loadAll(await open())]).toEqual([steps, before])
      expect([steps, await loadAll(await openLocked())]).toEqual([steps, before])
    }
    expect(steps).toBeGreaterThan(30)
  })

  it('that was moved is refused by earlier programs of every workspace', async () => {
    await recordAll()
    moveToOldPaths(stateFolder(), 'default', address)
    await (await openLocked()).store.load()
    const files = createFolderFiles(
      realDisk,
      stateFolder(),
      'old',
      createFolderRegister(realDisk, join(stateFolder(), 'lock/old'), 'old'),
      { id: 'other', address, account: 'default' },
    )
    const paths = buildStatePathsAt('default', buildOldAddressName(address))
    const newer = {
      code: 'record-damaged',
      message: expect.stringContaining('a newer edgewise') as string,
    }
    await expect(loadUnfinished(files, paths, new Map())).rejects.toMatchObject(newer)
    await expect(listIntended(files, paths)).rejects.toMatchObject(newer)
    expect(await findOwners(files, { id: 'other', address }, [www])).toEqual(
      new Map([[www, 'default']]),
    )
  })

  it('of two spellings is joined: items that differ are in-doubt', async () => {
    await (await open()).store.save(buildDomain(www, { timeout: buildItem('1') }), 'test')
    moveToOldPaths(stateFolder(), 'default', address, spelling)
    const { store } = await open('elsewhere', 'https://elsewhere.example.net')
    const both = { timeout: buildItem('2'), https: buildItem('3') }
    await store.save(new Map([...buildDomain(www, both), ...buildDomain(img, both)]), 'test')
    moveToOldPaths(stateFolder(), 'elsewhere', 'https://elsewhere.example.net', address)
    mkdirSync(join(stateFolder(), 'default'), { recursive: true })
    cpSync(join(stateFolder(), 'elsewhere'), join(stateFolder(), 'default'), { recursive: true })
    rmSync(join(stateFolder(), 'elsewhere'), { recursive: true })
    for (const state of [await open(), await openLocked(), await open()]) {
      const found = await state.store.load()
      expect(found.get(img)).toEqual(new Map(Object.entries(both)))
      expect(found.get(www)?.get('https')).toEqual(both.https)
      expect(found.get(www)?.get('timeout')).toMatchObject({
        status: 'in-doubt',
        candidates: [{ time: '2' }, { time: '1' }],
      })
    }
  })

  it('keeps the doubt mark of an earlier program that has lost its lock', async () => {
    await recordAll()
    moveToOldPaths(stateFolder(), 'default', address)
    await (
      await openLocked()
    ).store.save(buildDomain(www, { timeout: buildItem('5') }), 'recorded since')
    const path = join(stateFolder(), 'default/doubts', buildOldAddressName(address), 'lost.json')
    mkdirSync(join(path, '..'), { recursive: true })
    await realDisk.create(path, '{"format":"edgewise.doubt/1","apply":"lost","writes":[1]}\n')
    for (const state of [await open(), await openLocked(), await open()])
      expect((await state.store.load()).get(www)?.get('timeout')?.status).toBe('in-doubt')
    expect(existsSync(path)).toBe(false)
  })
})

describe('state at the path of an earlier program, on a branch', () => {
  it('is found, and moved in one commit by whoever changes it first', async () => {
    const two = await Two.make()
    try {
      const key = { id: 'default', address: 'https://api.example.net' }
      const saved = buildDomain(www, { timeout: buildItem('1') })
      await (await two.open('clone')).save(saved, 'test')
      await moveBranchToOldPaths(await two.sandbox.open('clone'), branch, key)
      expect(await (await two.open('other')).load()).toEqual(saved)
      const locks: string[] = []
      const state = await openState(
        {
          ...key,
          root: join(two.sandbox.folder, 'other'),
          account: 'default',
          state: { store: 'git', branch, remote: 'origin', path: 'state' },
        },
        { disk: realDisk, processName: 'p', openGit: () => two.sandbox.open('other') },
      )
      state.allowMoves(async (registers, work) => {
        locks.push(...registers.map(({ location }) => location))
        await work()
      })
      expect(await state.store.load()).toEqual(saved)
      const old = buildOldAddressName(key.address)
      expect(locks).toEqual([`refs/edgewise/lock/${old}/default of origin`])
      expect((await two.log()).slice(-2)).toEqual([
        'As earlier programs did',
        'Move state to the path of the normalized service address',
      ])
      const paths = await two.sandbox.git('remote.git', 'ls-tree', '-r', '--name-only', branch)
      expect(paths.split('\n').filter((path) => path.includes(old))).toEqual([
        `default/addresses/${old}.json`,
        `default/${old}/journal/moved.json`,
        `default/${old}/open/moved.json`,
        `default/${old}/waves/moved/1.json`,
      ])
      const clone = await two.open('clone')
      expect(await clone.load()).toEqual(saved)
      await clone.save(buildDomain(www, { timeout: buildItem('2') }), 'after the move')
      expect((await (await two.open('other')).load()).get(www)?.get('timeout')?.candidates).toEqual(
        [{ time: '2' }],
      )
    } finally {
      two.sandbox.remove()
    }
  })
})
