import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { FileStore } from '../../src/state/store/file-store.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedState, Store } from '../../src/state/store/store.ts'
import { buildApplied, buildWave, buildTimeout, begin } from './store-contract.ts'

const key = { id: 'test', address: 'https://service' }
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-file-store-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (disk: Disk): Store =>
  new FileStore(
    createFolderFiles(disk, folder, 'me', createFolderRegister(disk, `${folder}/lock`, 'me'), {
      ...key,
      account: 'default',
    }),
    key,
    'default',
  )

it('an unrecorded outcome leaves its write in-doubt, even if later ones are recorded', async () => {
  const before: RecordedState = new Map([
    ...buildTimeout('one.example.com', '1'),
    ...buildTimeout('two.example.com', '2'),
  ])
  await open(realDisk).save(before, 'as it was')
  let full = false
  const disk: Disk = {
    ...realDisk,
    rename: async (from, to) => {
      if (full && to.includes('one.example.com')) throw new Error('the disk is full')
      return realDisk.rename(from, to)
    },
  }
  const store = open(disk)
  await store.load()
  await begin(store, 'this', before)
  full = true
  const done = (domain: string) => buildTimeout(domain, '99', { apply: 'this' })
  await expect(
    store.recordOutcomes(buildApplied('this'), [1], done('one.example.com')),
  ).rejects.toThrow('the disk is full')
  await store.recordOutcomes(buildApplied('this'), [2], done('two.example.com'))

  const found = await open(realDisk).load()
  expect(found.get('one.example.com')?.get('timeout')).toMatchObject({
    status: 'in-doubt',
    candidates: [{ time: '1' }, { time: '99' }],
  })
  expect(found.get('two.example.com')?.get('timeout')).toMatchObject({
    status: 'confirmed',
    candidates: [{ time: '99' }],
  })
})

it('all calls of one moment count', async () => {
  const call = { at: 1, boot: 'boot', up: 1 }
  await open(realDisk).saveCalls('this', [call, call, { ...call, up: 2 }])
  expect((await open(realDisk).loadCalls()).calls).toEqual([
    { ...call, count: 2 },
    { ...call, up: 2 },
  ])
})

it('a batch without unsettled writes is only counted, and its writes stay settled', async () => {
  const domains = ['one.example.com', 'two.example.com', 'three.example.com']
  const recorded: RecordedState = new Map(
    domains.flatMap((domain) => [...buildTimeout(domain, '1')]),
  )
  const store = open(realDisk)
  await store.load()
  for (const [i, writes] of [[1], [2, 3]].entries())
    await store.recordIntents(buildApplied('this'), {
      number: i + 1,
      before: new Map(),
      landWithinMs: 0,
      intents: new Map(writes.map((write) => [write, recorded])),
    })
  for (const write of [2, 1]) await store.recordOutcomes(buildApplied('this'), [write], recorded)
  const [found = ''] = globSync('**/journal/this.json', { cwd: folder })
  const load = () => JSON.parse(readFileSync(join(folder, found), 'utf8')) as object
  expect(load()).toMatchObject({ settledBatches: 1, settled: [2] })
  // The third write is the only one without an outcome.
  const next = open(realDisk)
  await next.load()
  expect([...(await next.loadLateCalls('this')).open.keys()].toSorted()).toEqual(domains.toSorted())
  await next.markDoubtful('this', [1, 2, 3], [])
  const [mark = ''] = globSync('**/doubts/**/this.json', { cwd: folder })
  expect(JSON.parse(readFileSync(join(folder, mark), 'utf8'))).toMatchObject({ writes: [3] })
  await store.recordOutcomes(buildApplied('this'), [3], recorded)
  expect(load()).toMatchObject({ settledBatches: 2, settled: [] })
})

it('an item stays in-doubt while its second write has no outcome', async () => {
  const before = buildTimeout('one.example.com', '1')
  await open(realDisk).save(before, 'as it was')
  const store = open(realDisk)
  await store.load()
  const { intents } = buildWave('this', before)
  const state = intents.get(1) ?? new Map()
  await store.recordIntents(buildApplied('this'), {
    number: 1,
    before,
    landWithinMs: 0,
    intents: new Map([
      [1, state],
      [2, state],
    ]),
  })
  await store.recordOutcomes(
    buildApplied('this'),
    [1],
    buildTimeout('one.example.com', '50', { apply: 'this' }),
  )
  // The process dies while the second write is in flight.
  expect((await open(realDisk).load()).get('one.example.com')?.get('timeout')).toMatchObject({
    status: 'in-doubt',
    candidates: [{ time: '1' }, { time: '99' }],
  })
})
