import { replaceDurably } from '../../files/replace-durably.ts'
import {
  appendTo,
  closeFile,
  openToAppend,
  readStats,
  syncContent,
  type FileStats,
} from '../../files/store-file.ts'
import { createMemory, applyChange, type MemoryChange, type Memory } from './memory.ts'
import { loadData } from './load-data.ts'
import { formatSnapshot } from './snapshot.ts'

/**
 * Minimum bytes of appended changes after which the file is rewritten as one snapshot; they must
 * also exceed the snapshot.
 */
const minBytesToCompact = 1024 * 1024

/**
 * The data file: a line with a snapshot, then a line for each change. A change is appended before
 * it is applied in memory, and durable after the next `sync`, which all changes since the last one
 * share. Nothing that depends on a change may be answered before.
 */
export class DataLog {
  readonly memory: Memory
  readonly #path: string | null
  readonly #syncHandle: (handle: number) => Promise<void>
  #file: number | null = null
  /** Bytes of the snapshot at the start, and of the whole file. */
  #snapshotBytes = 0
  #fileBytes = 0
  /** The file as last written by this process; null if there was none. */
  #lastSeen: FileStats | null
  /** Number of changes, and of those that are durable. */
  #made = 0
  #durable = 0
  /** The sync that is running, and its file, which stays open until it ends. */
  #running: Promise<void> | null = null
  #syncing: number | null = null
  /** Failure of a sync: what the file has is unknown then. */
  #failure: Error | null = null

  /**
   * @param path null keeps nothing
   * @param sync makes what was written to an open file durable
   * @throws EdgewiseError `record-damaged` or `access` for an unreadable file
   */
  constructor(path: string | null, sync = syncContent) {
    this.#path = path
    this.#syncHandle = sync
    this.memory = path === null ? createMemory() : loadData(path)
    this.#lastSeen = path === null ? null : readStats(path)
  }

  /** Whether no change waits for a sync, and none has failed. */
  get isDurable(): boolean {
    return this.#durable === this.#made && this.#failure === null
  }

  /**
   * Appends a change and applies it. Throws what the file system throws; nothing has changed then.
   */
  commit(change: MemoryChange): void {
    if (this.#failure !== null) throw this.#failure
    if (this.#path !== null) this.#append(this.#path, change)
    applyChange(this.memory, change)
    if (this.#path !== null) this.#made++
  }

  /**
   * Makes all changes so far durable.
   *
   * @throws after a sync has failed, every time: a change that is in memory may be lost
   */
  async sync(): Promise<void> {
    const made = this.#made
    while (this.#durable < made && this.#failure === null) {
      this.#running ??= this.#sync()
      await this.#running
    }
    if (this.#failure !== null) throw this.#failure
  }

  close(): void {
    this.#close()
  }

  async #sync(): Promise<void> {
    const made = this.#made
    try {
      // The file is closed after a failure to append, and is to be rewritten.
      const file = this.#file ?? this.#rewrite(this.#path ?? '', this.memory)
      this.#syncing = file
      await this.#syncHandle(file)
      this.#durable = Math.max(this.#durable, made)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#failure = new Error(
        `the data file ${this.#path} could not be made durable: ${message}; ` +
          'start the emulator again',
      )
    } finally {
      const file = this.#syncing
      this.#syncing = this.#running = null
      if (file !== null && file !== this.#file) closeFile(file)
    }
  }

  #append(path: string, change: MemoryChange): void {
    this.#refuseForeign(path)
    const isLarge =
      this.#fileBytes - this.#snapshotBytes > Math.max(minBytesToCompact, this.#snapshotBytes)
    if (isLarge || change.reset === true) this.#close()
    if (change.reset === true) {
      // A reset removes the data from the file too.
      this.#rewrite(path, createMemory())
      return
    }
    const file = this.#file ?? this.#rewrite(path, this.memory)
    try {
      this.#fileBytes += appendTo(file, `${JSON.stringify(change)}\n`)
      this.#lastSeen = { ino: this.#lastSeen?.ino ?? 0, size: this.#fileBytes }
    } catch (error) {
      // The file's contents are unknown now, so the next change or sync rewrites it.
      this.#lastSeen = readStats(file)
      this.#close()
      throw error
    }
  }

  /** Replaces the file by a snapshot, durably, and opens it for changes. */
  #rewrite(path: string, memory: Memory): number {
    replaceDurably(path, formatSnapshot(memory))
    this.#durable = this.#made
    this.#file = openToAppend(path)
    this.#lastSeen = readStats(this.#file)
    this.#snapshotBytes = this.#fileBytes = this.#lastSeen?.size ?? 0
    return this.#file
  }

  /**
   * Refuses a file that another process has written: two writers would lose each other's changes. A
   * removed file is written again.
   */
  #refuseForeign(path: string): void {
    const stats = readStats(path)
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
    if (this.#file !== null && this.#file !== this.#syncing) closeFile(this.#file)
    this.#file = null
  }
}
