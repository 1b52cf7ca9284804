import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFolderFiles } from '../../src/state/folder/folder-files.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-guarded-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it.each([3, 100])('restores %i files if the guard refuses them after the write', async (count) => {
  const disk = { ...realDisk, sync: async () => {}, syncIfThere: async () => true }
  const lock = createFolderRegister(disk, join(folder, 'lock'), 'test')
  const owner = { id: 'default', address: 'https://api.example.net', account: 'default' }
  const files = createFolderFiles(disk, folder, 'test', lock, owner)
  const build = (text: string, from: number) =>
    new Map(Array.from({ length: count }, (_, i) => [`w/d${from + i}.json`, text]))
  // Half of the files of the refused write exist.
  await files.publish([build('old', 0)], '')
  const before = await files.load('w')
  let calls = 0
  const refuseSecond = async () => {
    if (++calls === 2) throw new Error('refused')
  }
  const from = Math.floor(count / 2)
  await expect(files.publish([build('new', from)], '', refuseSecond)).rejects.toThrow('refused')
  expect(await files.load('w')).toEqual(before)
})
