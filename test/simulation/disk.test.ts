import { expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { Chance } from './chance.ts'
import { Volume } from './disk.ts'
import { noFaults } from './faults.ts'
import { Machine } from './machine.ts'
import { World } from './world.ts'

/** Returns the possible contents of a file after a power failure, over many seeds. */
async function after(work: (disk: Disk) => Promise<unknown>): Promise<Set<string | null>> {
  const found = new Set<string | null>()
  for (let seed = 0; seed < 60; seed++) {
    const world = new World()
    const volume = new Volume(world, noFaults)
    const process = new Machine(world, 'm').start('p', new Chance(`${seed}`), Infinity)
    await world.passUntil(work(volume.disk(process)), 60_000)
    volume.losePower(new Chance(`power ${seed}`))
    found.add(volume.read('/file'))
  }
  return found
}

async function old(disk: Disk): Promise<void> {
  await disk.create('/file', 'old')
  await disk.sync('/file')
  await disk.sync('/')
}

it('keeps what was synced, text and name', async () => {
  expect(await after(old)).toEqual(new Set(['old']))
})

it('may lose a name that was not synced', async () => {
  expect(
    await after(async (disk) => {
      await disk.create('/file', 'new')
      await disk.sync('/file')
    }),
  ).toEqual(new Set(['new', null]))
})

it('may tear or lose a text that was not synced', async () => {
  expect(
    await after(async (disk) => {
      await disk.create('/file', 'new')
      await disk.sync('/')
    }),
  ).toEqual(new Set(['new', '', 'n', 'ne']))
})

it('may undo a rename, but always has one of the names', async () => {
  expect(
    await after(async (disk) => {
      await old(disk)
      await disk.create('/draft', 'new')
      await disk.sync('/draft')
      await disk.rename('/draft', '/file')
    }),
  ).toEqual(new Set(['old', 'new']))
})

it('has a torn file at the new name if its text was not synced before the rename', async () => {
  const found = await after(async (disk) => {
    await old(disk)
    await disk.create('/draft', 'new')
    await disk.rename('/draft', '/file')
    await disk.sync('/')
  })
  expect(found.has('')).toBe(true)
  expect(found.has('old')).toBe(false)
})

it('may keep a part if the process dies during the operation', async () => {
  const found = new Set<string | null>()
  for (let seed = 0; seed < 60; seed++) {
    const world = new World()
    const volume = new Volume(world, noFaults)
    const process = new Machine(world, 'm').start('p', new Chance(`${seed}`), 1)
    await world.passUntil(
      Promise.race([volume.disk(process).create('/file', 'new'), process.killed]),
      60_000,
    )
    found.add(volume.read('/file'))
  }
  expect(found).toEqual(new Set([null, '', 'n', 'ne', 'new']))
})
