import { dirname, join } from 'node:path'
import type { Disk } from '../../src/state/folder/disk.ts'

/** Creates a disk in memory; a copy of its files is a snapshot. */
export function createMemoryDisk(files: Map<string, string>): Disk {
  const folders = new Set<string>()
  const isFolder = (path: string) => folders.has(path) || hasBelow(files, `${path}/`)
  const has = (path: string) => files.has(path) || isFolder(path)
  const isIntact = (fence: Parameters<Disk['rename']>[2]) =>
    fence === undefined || fence.isIntact(list(fence.folder))
  const list = (folder: string) => {
    const names = new Set<string>()
    const below = `${folder}/`
    for (const paths of [files, folders])
      for (const path of paths.keys()) {
        if (!path.startsWith(below)) continue
        const end = path.indexOf('/', below.length)
        names.add(path.slice(below.length, end === -1 ? path.length : end))
      }
    return [...names]
  }
  return {
    read: async (path) => files.get(path) ?? null,
    list: async (folder) => list(folder),
    exists: async (path) => path === dirname(path) || has(path),
    makeFolder: async (path) => !has(path) && folders.add(path) !== undefined,
    create: async (path, text) => !has(path) && files.set(path, text) !== undefined,
    append: async (path, text, fence) => {
      const before = files.get(path)
      if (!isIntact(fence) || before === undefined) return false
      return files.set(path, before + text) !== undefined
    },
    link: async (from, to) => !has(to) && files.set(to, files.get(from) ?? '') !== undefined,
    sync: async () => undefined,
    syncIfThere: async (path) => has(path),
    syncAll: async () => true,
    rename: async (from, to, fence) => {
      if (!isIntact(fence)) return false
      files.set(to, files.get(from) ?? '')
      return files.delete(from)
    },
    remove: async (path, fence) => {
      if (!isIntact(fence)) return false
      for (const file of files.keys())
        if (file === path || file.startsWith(`${path}/`)) files.delete(file)
      for (const folder of folders)
        if (folder === path || folder.startsWith(join(path, '/'))) folders.delete(folder)
      return true
    },
  }
}

function hasBelow(files: ReadonlyMap<string, string>, folder: string): boolean {
  for (const path of files.keys()) if (path.startsWith(folder)) return true
  return false
}
