import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { openFileStore } from '../../src/state/file-store.ts'
import { formatEntry, parseEntry } from '../../src/state/format/journal.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedState, Store } from '../../src/state/store.ts'
import { buildApplied, buildItem, buildDomain, buildWave } from './store-contract.ts'

const key = { id: 'test', address: 'https://service' }
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-file-store-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (disk: Disk): Store =>
  openFileStore(
    createFolderFiles(disk, folder, 'me', createFolderRegister(disk, `${folder}/lock`, 'me'), {
      ...key,
      account: 'default',
    }),
    key,
    'default',
  )

it('an unrecorded outcome leaves its write in-doubt, even if later ones are recorded', async () => {
  const before: RecordedState = new Map([
    ...buildDomain('one.example.com', { timeout: buildItem('1') }),
    ...buildDomain('two.example.com', { timeout: buildItem('2') }),
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
  await store.recordIntents(buildApplied('this'), buildWave('this', before))
  full = true
  const done = (domain: string) =>
    buildDomain(domain, { timeout: buildItem('99', { apply: 'this' }) })
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

describe('the journal of an apply that version 1 recorded', () => {
  const none = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }

  /** Records the intents of two writes, and the journal entry as version 1 wrote it. */
  const recordOld = async (more: object) => {
    const before: RecordedState = new Map([
      ...buildDomain('one.example.com', { timeout: buildItem('1') }),
      ...buildDomain('two.example.com', { timeout: buildItem('2') }),
    ])
    const store = open(realDisk)
    await store.save(before, 'as it was')
    await store.recordIntents(buildApplied('old'), buildWave('old', before))
    const found = globSync('**/journal/old.json', { cwd: folder })
    const file = join(folder, found[0] ?? '')
    const entry = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...entry, format: 'edgewise.journal/1', ...more }))
    return file
  }

  it('counts the writes without an outcome as in-doubt, also once it is closed', async () => {
    const file = await recordOld({ writes: { ...none, confirmed: 1 }, settled: [1] })
    const writes = { ...none, confirmed: 1, inDoubt: 1 }
    const store = open(realDisk)
    await store.load()
    const [unfinished] = await store.listApplies()
    expect(unfinished).toMatchObject({ id: 'old', outcome: 'unfinished', writes })
    expect(unfinished).not.toHaveProperty('parts')
    expect(unfinished).not.toHaveProperty('isOld')
    expect(store.listUnfinished()).toMatchObject([{ id: 'old', writes }])

    await store.save(new Map(), 'the next change')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      format: 'edgewise.journal/3',
      writes,
    })
    const next = open(realDisk)
    await next.load()
    expect(await next.listApplies()).toMatchObject([{ id: 'old', writes }])
  })
})

it('a batch without unsettled writes is only counted, and its writes stay settled', async () => {
  const domains = ['one.example.com', 'two.example.com', 'three.example.com']
  const recorded: RecordedState = new Map(
    domains.flatMap((domain) => [...buildDomain(domain, { timeout: buildItem('1') })]),
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

it('an entry of version 2 has no settled batches', () => {
  const entry = { ...buildApplied('this'), settledBatches: 0, settled: [1] }
  const text = formatEntry(entry).replace('journal/3', 'journal/2')
  expect(parseEntry('x', text.replace(/ *"settledBatches": 0,\n/, ''))).toEqual(entry)
})

it('an item stays in-doubt while its second write has no outcome', async () => {
  const before = buildDomain('one.example.com', { timeout: buildItem('1') })
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
    buildDomain('one.example.com', { timeout: buildItem('50', { apply: 'this' }) }),
  )
  // The process dies while the second write is in flight.
  expect((await open(realDisk).load()).get('one.example.com')?.get('timeout')).toMatchObject({
    status: 'in-doubt',
    candidates: [{ time: '1' }, { time: '99' }],
  })
})
