import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import { getRegister } from './contender.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { Store } from '../../src/state/store/store.ts'
import {
  buildApplied,
  buildDomain,
  recordedAt,
  storeContract,
  type Kind,
  buildTimeout,
  begin,
  pruneNote,
} from './store-contract.ts'

interface FolderKind extends Kind {
  openOn(disk: Disk): Promise<OpenState>
  folder: string
  files(): string[]
  remove(): void
}

async function inFolder(): Promise<FolderKind> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-state-'))
  let processes = 0
  let disk = realDisk
  const open = async (
    id = 'default',
    address = 'https://api.example.net',
    account = 'default',
  ): Promise<OpenState> =>
    openState(
      {
        root: folder,
        id,
        address,
        account,
        state: { store: 'dir', branch: 'edgewise-state', remote: 'origin', path: 'state' },
      },
      {
        disk,
        processName: `p${++processes}`,
        openGit: () => Promise.reject(new Error('expected no git')),
      },
    )
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  return {
    folder,
    files,
    open,
    openOn: async (other) => {
      disk = other
      const opened = await open()
      disk = realDisk
      return opened
    },
    elsewhere: open,
    damage: async (name, change) => {
      const path = files().find((file) => file.endsWith(name) && !/\/(open|lock)\//.test(file))
      if (path === undefined) throw new Error(`expected a file ${name}, got ${files().join(', ')}`)
      writeFileSync(path, change(readFileSync(path, 'utf8')))
    },
    everything: async () => files().map((file) => [file, readFileSync(file, 'utf8')]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

storeContract('a folder', inFolder)

/**
 * Opens state whose store acquires the lock before each change, without a release of the holder:
 * the log of the last store waits for the next one.
 */
async function underLock(): Promise<Kind> {
  const own = await inFolder()
  const reading = ['load', 'list', 'find', 'knows', 'keep', 'explain']
  const open = async (...key: Parameters<Kind['open']>): Promise<OpenState> => {
    const opened = await own.open(...key)
    const lock = getRegister(opened)
    let held: string | null | undefined
    const acquire = async () => {
      const { version } = await lock.read()
      if (version === held) return
      // It has lost the lock: nothing moves to the files, and its log is forgotten.
      await opened.store.checkpoint?.()
      held = await lock.compareAndSwap(version, `holder of ${key.join(' ')}`)
    }
    const store = new Proxy(opened.store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>
        if (reading.some((word) => String(name).startsWith(word))) return method
        return async (...args: unknown[]) => {
          await acquire()
          return method(...args)
        }
      },
    })
    return { ...opened, store }
  }
  const moveLogs = async () => {
    for (const path of own.files().filter((file) => file.endsWith('.jsonl'))) {
      const [account, id] = basename(path).split('.')
      const opened = await own.open(id, 'https://api.example.net', account)
      const { store } = opened
      const lock = getRegister(opened)
      await lock.compareAndSwap((await lock.read()).version, 'moves the logs')
      await store.checkpoint?.()
    }
  }
  return {
    ...own,
    open,
    elsewhere: open,
    damage: async (name, change) => {
      await moveLogs()
      await own.damage(name, change)
    },
    everything: async () => {
      await moveLogs()
      return own
        .files()
        .filter((path) => !path.includes('/lock/'))
        .map((file) => [file, readFileSync(file, 'utf8')])
    },
  }
}

storeContract('a folder, under its lock', underLock, { own: it, shared: it, every: false })

let kind: FolderKind
beforeEach(async () => {
  kind = await inFolder()
})
afterEach(() => kind.remove())

/** Opens state with the lock of a new account. */
async function openLocked(name: string, ...key: Parameters<Kind['open']>): Promise<OpenState> {
  const opened = await kind.open(...key)
  await getRegister(opened).compareAndSwap(null, name)
  return opened
}

/** A disk that fails at the nth change of its files. */
function failAt(n: number): Disk {
  let changes = 0
  const count = () => {
    if (++changes === n) throw new Error('the power is gone')
  }
  return {
    ...realDisk,
    rename: async (from, to) => {
      count()
      return realDisk.rename(from, to)
    },
    remove: async (path) => {
      // Drafts are removed before they are written.
      if (!path.endsWith('.tmp')) count()
      return realDisk.remove(path)
    },
  }
}

it.each<[string, (store: Store) => Promise<void>]>([
  ['move', async (store) => store.move(await store.load(), 'theirs', 'Move')],
  [
    'pruning',
    async (store) => {
      await store.load()
      const applies = await store.listApplies()
      const old = applies.filter(({ id }) => id !== 'three')
      await store.prune(old, 'Prune', pruneNote)
    },
  ],
])('an interrupted %s loses nothing, and can be repeated', async (_what, change) => {
  const state = new Map([
    ...buildTimeout('a.example.com', '1'),
    ...buildTimeout('b.example.com', '2'),
  ])
  const ended = { endedAt: recordedAt, outcome: 'complete' as const }
  for (let n = 1, interrupted = true; interrupted; n++) {
    kind.remove()
    kind = await inFolder()
    const { store } = await kind.open()
    await store.load()
    await store.save(state, 'test')
    for (const id of ['one', 'two', 'three']) {
      await begin(store, id, state)
      await store.endApply(buildApplied(id, ended))
    }
    const { store: failing } = await kind.openOn(failAt(n))
    interrupted = await change(failing).then(
      () => false,
      () => true,
    )
    const [mine, theirs] = [(await kind.open()).store, (await kind.open('theirs')).store]
    for (const [domain, items] of state) {
      const copies = [await mine.load(), await theirs.load()].map((each) => each.get(domain))
      expect([n, copies.some((each) => each !== undefined)]).toEqual([n, true])
      for (const copy of copies) expect(copy ?? items).toEqual(items)
    }
    const known = async () =>
      new Set(
        [...(await mine.listPruned()).applies, ...(await mine.listApplies())].map(({ id }) => id),
      )
    expect([n, (await known()).size]).toEqual([n, 3])
    if (interrupted) await change(mine)
    const [left, moved] = [await mine.load(), await theirs.load()]
    expect([n, left.size + moved.size]).toEqual([n, 2])
    expect([n, await known()]).toEqual([n, new Set(['one', 'two', 'three'])])
    const batches = new Set(
      kind.files().flatMap((path) => /batches\/(\w+)\//.exec(path)?.[1] ?? []),
    )
    const applies = (await mine.listApplies()).map(({ id }) => id)
    expect([n, [...batches].toSorted()]).toEqual([n, applies.toSorted()])
  }
})

it('state in a folder is readable by its owner only', async () => {
  const opened = await kind.open()
  const { store } = opened
  const lock = getRegister(opened)
  await store.save(buildTimeout('a.example.com', '1'), 'test')
  await store.saveCalls('x', [])
  await lock.compareAndSwap(null, 'me')
  expect(kind.files().length).toBeGreaterThan(3)
  for (const path of kind.files()) {
    expect(statSync(path).mode & 0o777, path).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777, dirname(path)).toBe(0o700)
  }
})

it('leaves no temporary file behind, and ignores those of dead processes', async () => {
  const { store } = await kind.open()
  await store.save(buildTimeout('a.example.com', '1'), 'test')
  expect(kind.files().filter((path) => path.endsWith('.tmp'))).toEqual([])
  const path = kind.files().find((file) => file.endsWith('a.example.com.json')) ?? ''
  for (const name of [
    'a.example.com.json.99999.tmp',
    'b.example.com.json.1.tmp',
    '.a.example.com.json.swp',
  ]) {
    writeFileSync(join(dirname(path), name), '{"format": "edgewise.rec')
  }
  expect([...(await store.load()).keys()]).toEqual(['a.example.com'])
})

it('a process that lost the lock while asleep overwrites nothing', async () => {
  const slept = await kind.open()
  const version = await getRegister(slept).compareAndSwap(null, 'the one that slept')
  await slept.store.save(buildTimeout('a.example.com', '1'), 'test')
  const other = await kind.open()
  await other.store.load()
  await getRegister(other).compareAndSwap(version, 'the other')
  await other.store.save(buildTimeout('a.example.com', '2'), 'test')
  const now = await kind.everything()
  const late = buildTimeout('a.example.com', '3')
  const moved = { code: 'record-moved', message: expect.stringContaining('the lock') as string }
  await expect(slept.store.save(late, 'test')).rejects.toMatchObject(moved)
  await expect(slept.store.recordOutcomes(buildApplied('late'), [1], late)).rejects.toMatchObject(
    moved,
  )
  await expect(slept.store.saveCalls('late', [])).rejects.toMatchObject(moved)
  expect(await kind.everything()).toEqual(now)
})

it('a file that is removed while the state loads is not a damaged file', async () => {
  const domains = new Map([
    ...buildTimeout('a.example.com', '1'),
    ...buildTimeout('b.example.com', '2'),
  ])
  await (await kind.open()).store.save(domains, 'test')
  const changing: Disk = {
    ...realDisk,
    read: (path) => {
      if (path.includes('b.example.com')) rmSync(path)
      return realDisk.read(path)
    },
  }
  domains.delete('b.example.com')
  expect(await (await kind.openOn(changing)).store.load()).toEqual(domains)
})

it('a process that loses the lock while its log moves to the files replaces nothing', async () => {
  let meanwhile = async () => {}
  const suspended: Disk = {
    ...realDisk,
    // Between the draft and its new name.
    create: async (path, text) => {
      const created = await realDisk.create(path, text)
      if (path.includes('a.example.com')) await meanwhile()
      return created
    },
  }
  const slow = await kind.openOn(suspended)
  const version = await getRegister(slow).compareAndSwap(null, 'slow')
  const state = (value: string) => buildTimeout('a.example.com', value)
  await slow.store.save(state('1'), 'test')
  meanwhile = async () => {
    meanwhile = async () => {}
    const other = await kind.open()
    expect(await other.store.load()).toEqual(state('1'))
    await getRegister(other).compareAndSwap(version, 'other')
    await other.store.save(state('2'), 'test')
    await other.store.checkpoint?.()
  }
  await slow.store.checkpoint?.()
  expect(await (await kind.open()).store.load()).toEqual(state('2'))
  expect(kind.files().filter((path) => /\.(tmp|jsonl)$/.test(path))).toEqual([])
})

it('a move into a workspace whose killed command has changed the domain is refused', async () => {
  const state = buildTimeout('a.example.com', '1')
  const theirs = await openLocked('theirs', 'theirs', undefined, 'another account')
  await theirs.store.save(state, 'test')
  await theirs.store.checkpoint?.()
  // Killed before the removal is in the files.
  await theirs.store.load()
  await theirs.store.save(buildDomain('a.example.com', {}), 'test')
  const mine = await openLocked('mine', 'mine')
  await mine.store.load()
  await mine.store.save(state, 'test')
  await expect(mine.store.move(state, 'theirs', 'Move')).rejects.toMatchObject({
    code: 'record-moved',
    message: expect.stringContaining('another command is changing') as string,
  })
  expect(await (await kind.open('mine')).store.load()).toEqual(state)
  // The account of the workspace was changed meanwhile.
  const next = await openLocked('next', 'theirs', undefined, 'a third account')
  await next.store.checkpoint?.()
  await mine.store.move(state, 'theirs', 'Move')
  expect(await (await kind.open('theirs')).store.load()).toEqual(state)
})

it('state that is only in a log counts for the choice of the store', async () => {
  const { store } = await openLocked('me')
  await store.save(buildTimeout('a.example.com', '1'), 'test')
  mkdirSync(join(kind.folder, '.git'))
  writeFileSync(join(kind.folder, '.git', 'HEAD'), '')
  const state = { store: null, branch: 'edgewise-state', remote: 'origin', path: 'state' }
  const key = { id: 'default', address: 'https://api.example.net', account: 'default' }
  const openGit = async () => ({ remote: null }) as GitRepository
  await expect(
    openState({ root: kind.folder, ...key, state }, { disk: realDisk, processName: 'p', openGit }),
  ).rejects.toMatchObject({ code: 'usage' })
})

it('a log whose last line is cut off has the others; a damaged one is reported', async () => {
  const { store } = await openLocked('me')
  const state = (value: string) => buildTimeout('a.example.com', value)
  for (const value of ['1', '2']) await store.save(state(value), 'test')
  const path = kind.files().find((file) => file.endsWith('.jsonl')) ?? ''
  const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n')
  for (const [text, message] of [
    [`${first}\n${second.slice(0, -9)}`, null],
    [`${first.slice(0, -9)}\n${second}\n`, /\.jsonl:1 can't be used: it is not JSON/],
    [first.replace('log/1', 'log/2'), /a newer edgewise/],
    [first.replace('"default/', '"../default/'), /is no path of a file/],
  ] as const) {
    writeFileSync(path, text)
    const load = (await kind.open()).store.load()
    if (message === null) expect(await load).toEqual(state('1'))
    else
      await expect(load).rejects.toMatchObject({
        code: 'record-damaged',
        message: expect.stringMatching(message) as string,
      })
  }
})

it('a process that loses the lock while it is suspended in a write replaces nothing', async () => {
  let meanwhile = async () => {}
  const suspended: Disk = {
    ...realDisk,
    // Directly before the change.
    append: async (path, text, fence) => {
      await meanwhile()
      return realDisk.append(path, text, fence)
    },
  }
  const slow = await kind.openOn(suspended)
  const version = await getRegister(slow).compareAndSwap(null, 'slow')
  await slow.store.save(buildTimeout('a.example.com', '1'), 'test')
  meanwhile = async () => {
    meanwhile = async () => {}
    const other = await kind.open()
    await other.store.load()
    await getRegister(other).compareAndSwap(version, 'other')
    await other.store.save(buildTimeout('a.example.com', '2'), 'test')
  }
  await expect(slow.store.save(buildTimeout('a.example.com', '3'), 'test')).rejects.toMatchObject({
    code: 'record-moved',
  })
  expect(await (await kind.open()).store.load()).toEqual(buildTimeout('a.example.com', '2'))
  expect(kind.files().filter((path) => path.endsWith('.tmp'))).toEqual([])
})

it.each<[string, (version: string) => Promise<unknown>, RegExp]>([
  [
    'the folder is gone',
    async () => rmSync(join(kind.folder, 'state'), { recursive: true }),
    /^the state folder \S+state was deleted or moved during the command$/,
  ],
  [
    'the lock is gone',
    async () => rmSync(join(kind.folder, 'state', 'lock'), { recursive: true }),
    /can't be written: the lock \S+ was deleted$/,
  ],
  [
    'the lock was removed',
    async (version) => getRegister(await kind.open()).compareAndSwap(version, null),
    /can't be written: the lock was removed$/,
  ],
])('a write after %s says so', async (_what, change, message) => {
  const opened = await kind.open()
  const { store } = opened
  const lock = getRegister(opened)
  const version = (await lock.compareAndSwap(null, 'me')) ?? ''
  await store.save(buildTimeout('a.example.com', '1'), 'test')
  await change(version)
  await expect(store.save(buildTimeout('a.example.com', '2'), 'test')).rejects.toMatchObject({
    code: 'record-moved',
    message: expect.stringMatching(message) as string,
    hint: expect.stringMatching(/run the same command again/i) as string,
  })
})
