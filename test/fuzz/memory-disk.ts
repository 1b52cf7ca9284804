import { dirname, join } from 'node:path'
import type { Disk } from '../../src/state/folder/disk.ts'

/** Creates a disk in memory; a copy of its files is a snapshot. */
export function createMemoryDisk(files: Map<string, string>): Disk {
  const folders = new Set<string>()
  const isFolder = (path: string) =>
    folders.has(path) || [...files.keys()].some((file) => file.startsWith(`${path}/`))
  const has = (path: string) => files.has(path) || isFolder(path)
  const isIntact = (fence: Parameters<Disk['rename']>[2]) =>
    fence === undefined || fence.isIntact(list(fence.folder))
  const list = (folder: string) => {
    const below = [...files.keys(), ...folders].filter((path) => path.startsWith(`${folder}/`))
    return [...new Set(below.map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''))]
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
