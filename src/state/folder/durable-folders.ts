import { dirname } from 'node:path'
import type { Disk } from './disk.ts'

/**
 * Creates folders below a root, and the root itself, whose names survive a crash. An existing
 * folder may come from a process that died before its name was durable, so its name is synced too.
 */
export class DurableFolders {
  readonly #disk: Disk
  readonly #root: string
  readonly #durable = new Set<string>()

  constructor(disk: Disk, root: string) {
    this.#disk = disk
    this.#root = root
  }

  async ensure(folder: string): Promise<void> {
    const parent = dirname(folder)
    if (folder === parent || this.#durable.has(folder)) return
    const above = folder.length < this.#root.length
    if (above && (await this.#disk.exists(folder))) return
    await this.ensure(parent)
    if (!(await this.#disk.exists(folder))) await this.#disk.makeFolder(folder)
    await this.#disk.sync(parent)
    this.#durable.add(folder)
  }
}
