import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { openFileStore } from '../../src/state/file-store.ts'
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
    createFolderFiles(disk, folder, 'me', createFolderRegister(disk, `${folder}/lock`, 'me')),
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
