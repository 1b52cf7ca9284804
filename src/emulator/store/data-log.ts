import { closeSync, fdatasyncSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'
import { createMemory, applyChange, type MemoryChange, type Memory } from './memory.ts'
import { loadData } from './load-data.ts'
import { formatSnapshot } from './snapshot.ts'
import { writeDurably } from './write-durably.ts'

/**
 * Minimum bytes of appended changes after which the file is rewritten as one snapshot; they must
 * also exceed the snapshot.
 */
const minBytesToCompact = 1024 * 1024

/**
 * The data file: a line with a snapshot, then a line for each change. A change is on the disk
 * before it is applied in memory, so that a process killed at any moment restarts with every write
 * that it had answered.
 */
export class DataLog {
  readonly memory: Memory
  readonly #path: string | null
  #file: number | null = null
  /** Bytes of the snapshot at the start, and of the whole file. */
  #snapshotBytes = 0
  #fileBytes = 0
  /** The file as last written by this process; null if there was none. */
  #lastSeen: { ino: number; size: number } | null

  /**
   * @param path null keeps nothing
   * @throws EdgewiseError `record-damaged` or `access` for an unreadable file
   */
  constructor(path: string | null) {
    this.#path = path
    this.memory = path === null ? createMemory() : loadData(path)
    this.#lastSeen = path === null ? null : readFileStats(path)
  }

  /**
   * Makes a change durable and applies it. Throws what the file system throws; nothing has changed
   * then.
   */
  commit(change: MemoryChange): void {
    if (this.#path !== null) this.#append(this.#path, change)
    applyChange(this.memory, change)
    if (this.#fileBytes - this.#snapshotBytes > Math.max(minBytesToCompact, this.#snapshotBytes))
      this.#close()
  }

  close(): void {
    this.#close()
  }

  #append(path: string, change: MemoryChange): void {
    this.#refuseForeign(path)
    if (change.reset === true) {
      // A reset removes the data from the file too.
      this.#close()
      this.#rewrite(path, createMemory())
      return
    }
    const file = this.#file ?? this.#rewrite(path, this.memory)
    try {
      const bytes = Buffer.from(`${JSON.stringify(change)}\n`)
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
      fdatasyncSync(file)
      this.#fileBytes += bytes.length
      this.#lastSeen = { ino: this.#lastSeen?.ino ?? 0, size: this.#fileBytes }
    } catch (error) {
      // The file's contents are unknown now, so the next change rewrites it.
      const { ino, size } = fstatSync(file)
      this.#lastSeen = { ino, size }
      this.#close()
      throw error
    }
  }

  /** Replaces the file by a snapshot, and opens it for changes. */
  #rewrite(path: string, memory: Memory): number {
    writeDurably(path, formatSnapshot(memory))
    this.#file = openSync(path, 'a', 0o600)
    const { ino, size } = fstatSync(this.#file)
    this.#lastSeen = { ino, size }
    this.#snapshotBytes = this.#fileBytes = size
    return this.#file
  }

  /**
   * Refuses a file that another process has written: two writers would lose each other's changes. A
   * removed file is written again.
   */
  #refuseForeign(path: string): void {
    const stats = readFileStats(path)
    if (stats === null) {
      this.#close()
    } else if (stats.ino !== this.#lastSeen?.ino || stats.size !== this.#lastSeen.size) {
      throw new Error(
        `another process has written the data file ${path}; give each emulator a file of its ` +
          'own, and start this one again',
      )
    }
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

function readFileStats(path: string): { ino: number; size: number } | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : { ino: stats.ino, size: stats.size }
}
