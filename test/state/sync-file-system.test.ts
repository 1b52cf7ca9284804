import { existsSync, statfsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { syncFileSystem } from '../../src/state/folder/sync-file-system.ts'

const memory = '/dev/shm'
const tmpfs = 0x01021994
const hasMemory = existsSync(memory) && statfsSync(memory).type === tmpfs

it.runIf(hasMemory)('syncs a file system of this machine by one call', async () => {
  expect(await syncFileSystem(memory)).toBe(true)
})

it.each(['/proc', '/dev/null/missing'])('does not count on a sync of %s', async (folder) => {
  expect(await syncFileSystem(folder)).toBe(false)
})
