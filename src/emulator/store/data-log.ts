import { closeSync, fdatasyncSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'
import { createMemory, applyChange, type MemoryChange, type Memory } from './memory.ts'
import { loadData } from './load-data.ts'
import { formatSnapshot } from './snapshot.ts'
import { writeDurably } from './write-durably.ts'

/**
 * The file is rewritten as one snapshot once what was appended is this many bytes, and more than
 * the snapshot itself.
 */
const leastToCompact = 1024 * 1024

/**
 * The data file: a line with everything that was held once, then a line for each change. A change
 * is on the disk before it is remembered, so that a process that is killed at any moment starts
 * again with every write that it had answered.
 */
export class DataLog {
  readonly memory: Memory
  readonly #path: string | null
  #file: number | null = null
  /** Bytes of the snapshot at the beginning, and of the whole file. */
  #snapshot = 0
  #size = 0
  /** The file as this process left it; null where there was none. */
  #left: { ino: number; size: number } | null

  /**
   * @throws EdgewiseError `record-damaged` or `access` for a file that can't be read. `path` null
   * keeps nothing.
   */
  constructor(path: string | null) {
    this.#path = path
    this.memory = path === null ? createMemory() : loadData(path)
    this.#left = path === null ? null : stateOf(path)
  }

  /**
   * Makes a change durable and remembers it. Throws what the file system throws; nothing has
   * changed then.
   */
  commit(change: MemoryChange): void {
    if (this.#path !== null) this.#keep(this.#path, change)
    applyChange(this.memory, change)
    if (this.#size - this.#snapshot > Math.max(leastToCompact, this.#snapshot)) this.#close()
  }

  close(): void {
    this.#close()
  }

  #keep(path: string, change: MemoryChange): void {
    this.#refuseForeign(path)
    if (change.reset === true) {
      // What is to be forgotten leaves the file as well.
      this.#close()
      this.#rewrite(path, createMemory())
      return
    }
    const file = this.#file ?? this.#rewrite(path, this.memory)
    try {
      const bytes = Buffer.from(`${JSON.stringify(change)}\n`)
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
      fdatasyncSync(file)
      this.#size += bytes.length
      this.#left = { ino: this.#left?.ino ?? 0, size: this.#size }
    } catch (error) {
      // Whatever is in the file now, the next change begins with a whole one.
      const { ino, size } = fstatSync(file)
      this.#left = { ino, size }
      this.#close()
      throw error
    }
  }

  /** Replaces the file by a snapshot, and opens it for changes. */
  #rewrite(path: string, memory: Memory): number {
    writeDurably(path, formatSnapshot(memory))
    this.#file = openSync(path, 'a', 0o600)
    const { ino, size } = fstatSync(this.#file)
    this.#left = { ino, size }
    this.#snapshot = this.#size = size
    return this.#file
  }

  /**
   * Two processes that write one file would lose what the other one keeps. A file that was taken
   * away is written again.
   */
  #refuseForeign(path: string): void {
    const there = stateOf(path)
    if (there === null) {
      this.#close()
    } else if (there.ino !== this.#left?.ino || there.size !== this.#left.size) {
      throw new Error(
        `another process has written the data file ${path}; give each emulator a file of its own, and start this one again`,
      )
    }
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

function stateOf(path: string): { ino: number; size: number } | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : { ino: stats.ino, size: stats.size }
}
