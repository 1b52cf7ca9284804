import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Domain } from '../../src/core/model/item.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { FileStore } from '../../src/state/store/file-store.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedState, Store } from '../../src/state/store/store.ts'
import { buildApplied, buildWave, recordedAt, buildTimeout, begin } from './store-contract.ts'

const key = { id: 'test', address: 'https://service' }
const [a, b, c] = ['a.example.com', 'b.example.com', 'c.example.com']
let folder = ''
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-locked-'))
  await open().save(build('1', a, b, c), 'as it was')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Opens the state like a process of its own, with the locks of some domains. */
function open(...locked: Domain[]): Store {
  const register = createFolderRegister(realDisk, `${folder}/lock`, 'me')
  const files = createFolderFiles(realDisk, folder, 'me', register, { ...key, account: 'default' })
  const store = new FileStore(files, key, 'default')
  if (locked.length > 0) store.lockOnly(new Set(locked))
  return store
}

async function openLoaded(...locked: Domain[]): Promise<Store> {
  const store = open(...locked)
  await store.load()
  return store
}

const build = (value: string, ...domains: Domain[]): RecordedState =>
  new Map(domains.flatMap((name) => [...buildTimeout(name, value)]))

/** Begins an apply that changes some domains. */
async function beginLocked(id: string, ...domains: Domain[]): Promise<Store> {
  const store = await openLoaded(...domains)
  await begin(store, id, build('1', ...domains))
  return store
}

async function findStatuses(): Promise<Record<Domain, string | undefined>> {
  const recorded = await open().load()
  return Object.fromEntries(
    [...recorded].map(([domain, items]) => [domain, items.get('timeout')?.status]),
  )
}

const unlocked = (domain: Domain) => ({
  code: 'record-moved',
  message: expect.stringContaining(domain) as string,
})

describe('a process with the locks of some domains', () => {
  it('leaves the apply that runs on others as it is', async () => {
    const theirs = await beginLocked('theirs', b)
    const mine = await openLoaded(a)
    expect(mine.listUnfinished()).toEqual([])
    await begin(mine, 'mine', build('1', a))
    await mine.recordOutcomes(buildApplied('mine'), [1], build('99', a))
    await mine.endApply(buildApplied('mine', { outcome: 'complete', endedAt: recordedAt }))
    expect(await findStatuses()).toEqual({ [a]: 'confirmed', [b]: 'in-doubt', [c]: 'confirmed' })
    await theirs.recordOutcomes(buildApplied('theirs'), [1], build('99', b))
    expect(await findStatuses()).toEqual({ [a]: 'confirmed', [b]: 'confirmed', [c]: 'confirmed' })
    expect((await openLoaded()).listUnfinished()).toMatchObject([{ id: 'theirs' }])
  })

  it('closes the apply that died on them, and says so', async () => {
    await beginLocked('died', a, b)
    const mine = await openLoaded(a, b, c)
    expect(mine.listUnfinished()).toMatchObject([{ id: 'died' }])
    await mine.save(build('2', c), 'something')
    const next = await openLoaded()
    expect(next.listUnfinished()).toEqual([])
    expect((await next.listApplies()).map(({ outcome }) => outcome)).toEqual(['interrupted'])
    expect(await findStatuses()).toEqual({ [a]: 'in-doubt', [b]: 'in-doubt', [c]: 'confirmed' })
  })

  it('closes no apply of which it has only a part', async () => {
    await beginLocked('died', a, b)
    const mine = await openLoaded(b, c)
    await mine.save(build('2', c), 'something')
    expect((await openLoaded()).listUnfinished()).toMatchObject([{ id: 'died' }])
  })

  it('removes a doubt mark only with all of its domains', async () => {
    const late = await beginLocked('late', a, b)
    await beginLocked('next', a, b).then((store) => store.endApply(buildApplied('next')))
    await late.markDoubtful('late', [1, 2], [])
    await (await openLoaded(a, c)).save(build('2', c), 'something')
    expect(await findStatuses()).toMatchObject({ [a]: 'in-doubt', [b]: 'in-doubt' })
    const mine = await openLoaded(a, b)
    await mine.save(build('2', a), 'something')
    expect(await findStatuses()).toMatchObject({ [a]: 'confirmed', [b]: 'in-doubt' })
  })

  it.each<[string, (store: Store) => Promise<void>]>([
    ['intents', (store) => begin(store, 'mine', build('1', a, b))],
    [
      'releases',
      (store) =>
        store.recordIntents(buildApplied('mine'), {
          ...buildWave('mine', build('1', a)),
          before: build('1', a, b),
        }),
    ],
    ['state', (store) => store.save(build('2', b), 'something')],
    ['a removal', (store) => store.save(new Map([[b, new Map()]]), 'something')],
  ])('does not record %s of others', async (_what, record) => {
    const before = await open().load()
    await expect(record(await openLoaded(a))).rejects.toMatchObject(unlocked(b))
    expect(await open().load()).toEqual(before)
  })

  it('records nothing over an apply with the same id', async () => {
    const theirs = await beginLocked('same', b)
    const why = expect.stringContaining('begun with the same id') as string
    await expect(beginLocked('same', a)).rejects.toMatchObject({
      code: 'record-moved',
      message: why,
    })
    await theirs.recordOutcomes(buildApplied('same'), [1], build('99', b))
    expect(await findStatuses()).toEqual({ [a]: 'confirmed', [b]: 'confirmed', [c]: 'confirmed' })
  })

  it('lists the rollouts of which it has all domains', async () => {
    const rollout: Rollout = {
      id: 'one',
      startedAt: '2026-11-20T00:00:00.000Z',
      commit: null,
      author: null,
      state: 'open',
      reason: null,
      items: [],
      desiredHashes: { [a]: '1', [b]: '1' },
      endedAt: null,
      values: { [b]: { https: 'x' } },
      onHold: { [b]: { https: 'x' } },
      waves: [{ domains: [a, b], applied: null, passed: false }],
      released: [],
      applies: [],
    }
    await open().saveRollout(rollout, 'begun')
    expect(await open(a, b, c).listRollouts()).toEqual([rollout])
    expect(await open(a, c).listRollouts()).toEqual([])
    expect(await open().listRollouts()).toEqual([rollout])
    expect(await open().findEntangled([b])).toEqual(new Set([b, a]))
  })
})

describe('domains that can only be changed together', () => {
  it('are those of applies and doubt marks, and what these have in common', async () => {
    const late = await beginLocked('late', a, b)
    await (await openLoaded()).save(build('1', 'x.example.com'), 'closes it')
    await late.markDoubtful('late', [1, 2], [])
    await beginLocked('died', b, c)
    const store = open()
    expect(await store.findEntangled([a])).toEqual(new Set([a, b, c]))
    expect(await store.findEntangled(['x.example.com'])).toEqual(new Set(['x.example.com']))
    expect(await store.findEntangled([])).toEqual(new Set())
  })

  it('are none without an unfinished apply', async () => {
    expect(await open().findEntangled([a])).toEqual(new Set([a]))
  })
})

it('lists the domains with state, also those with shortened file names', async () => {
  const label = 'l'.repeat(60)
  const long = `${label}.${label}.${label}.${label}.example.com`
  await open().save(build('1', long), 'long')
  expect((await open().listDomains()).toSorted()).toEqual([a, b, c, long])
})
