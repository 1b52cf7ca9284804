import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { writeFilesDurably, DurableFolders } from '../../src/state/folder/write-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-write-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Creates the real disk, full at one step (`partly`: after a part of the text), and a list of its
 * steps.
 */
function createFailingDisk(at: string): { disk: Disk; steps: string[] } {
  const steps: string[] = []
  const step = (name: string, path: string) => {
    steps.push(`${name} ${path.slice(folder.length + 1)}`)
    if (name === at) throw Object.assign(new Error(`ENOSPC: ${name}`), { code: 'ENOSPC' })
  }
  const disk: Disk = {
    ...realDisk,
    create: async (path, text) => {
      step('create', path)
      if (at === 'partly') {
        writeFileSync(path, text.slice(0, 10))
        step('partly', path)
      }
      return realDisk.create(path, text)
    },
    sync: async (path) => {
      step('sync', path)
      return realDisk.sync(path)
    },
    rename: async (from, to) => {
      step('rename', to)
      return realDisk.rename(from, to)
    },
    makeFolder: async (path) => {
      step('folder', path)
      return realDisk.makeFolder(path)
    },
  }
  return { disk, steps }
}

it.each(['create', 'partly', 'sync', 'rename'])(
  'a failure at %s leaves the old text, never a part',
  async (at) => {
    const path = join(folder, 'a.json')
    writeFileSync(path, 'old text that is long enough')
    const { disk } = createFailingDisk(at)
    await expect(
      writeFilesDurably(
        disk,
        new DurableFolders(disk, folder),
        new Map([[path, 'new text that is long enough']]),
        'me',
      ),
    ).rejects.toThrow('ENOSPC')
    expect(readFileSync(path, 'utf8')).toBe('old text that is long enough')
    await writeFilesDurably(
      realDisk,
      new DurableFolders(realDisk, folder),
      new Map([[path, 'newer text']]),
      'me',
    )
    expect(readFileSync(path, 'utf8')).toBe('newer text')
    expect(readdirSync(folder)).toEqual(['a.json'])
  },
)

it('syncs files before their rename, folders before their use, and names last', async () => {
  const { disk, steps } = createFailingDisk('')
  await writeFilesDurably(
    disk,
    new DurableFolders(disk, join(folder, 'x')),
    new Map([
      [join(folder, 'x', 'a.json'), 'text'],
      [join(folder, 'x', 'b.json'), 'text'],
    ]),
    'me',
  )
  const file = (name: string) => [
    `create x/${name}.me.tmp`,
    `sync x/${name}.me.tmp`,
    `rename x/${name}`,
  ]
  expect(steps).toEqual(['folder x', 'sync ', ...file('a.json'), ...file('b.json'), 'sync x'])
})

it('creates folders, and deletes existing and missing files', async () => {
  const path = join(folder, 'x', 'y', 'a.json')
  await writeFilesDurably(
    realDisk,
    new DurableFolders(realDisk, folder),
    new Map([[path, 'text']]),
    'me',
  )
  expect(readFileSync(path, 'utf8')).toBe('text')
  await writeFilesDurably(
    realDisk,
    new DurableFolders(realDisk, folder),
    new Map([[path, null]]),
    'me',
  )
  await writeFilesDurably(
    realDisk,
    new DurableFolders(realDisk, folder),
    new Map([[path, null]]),
    'me',
  )
  expect(readdirSync(join(folder, 'x', 'y'))).toEqual([])
})

it('makes the name of an existing folder durable, once', async () => {
  const { disk, steps } = createFailingDisk('')
  mkdirSync(join(folder, 'x'))
  const made = new DurableFolders(disk, join(folder, 'x'))
  await made.ensure(join(folder, 'x'))
  await made.ensure(join(folder, 'x', 'y'))
  await made.ensure(join(folder, 'x', 'y'))
  expect(steps).toEqual(['sync ', 'folder x/y', 'sync x'])
})
