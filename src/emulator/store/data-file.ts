import { findCode } from '../../files/look.ts'
import { describeUnwritten } from '../../files/explain-failure.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { replaceDurably } from '../../files/replace-durably.ts'
import { readStats, type FileStats } from '../../files/store-file.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { createMemory, formatMemory, parseMemory, type Memory } from './memory.ts'

const maxBytes = 500 * 1024 * 1024
/** Wait for more changes before the file is written, ms. */
const gatherMs = 100
/** Longest share of the time that writing takes: a large file is written less often. */
const maxShare = 1 / 20

/**
 * The file of an emulator's data, which is whole at any time: it is loaded at the start, and
 * replaced soon after a change and at the end. A crash loses what changed since then.
 */
export class DataFile {
  readonly memory: Memory
  readonly #path: string | null
  /** The file as this process has last seen it; null if there was none. */
  #lastSeen: FileStats | null
  #timer: NodeJS.Timeout | null = null
  /** Time that the last replacement took, ms, and why it failed; null if it did not. */
  #tookMs = 0
  #failure: Error | null = null

  /**
   * @param path null keeps nothing
   * @throws EdgewiseError `record-damaged` or `access` for an unreadable file
   */
  constructor(path: string | null) {
    this.#path = path
    this.memory = path === null ? createMemory() : load(path)
    this.#lastSeen = path === null ? null : readStats(path)
  }

  /** Begins a change. Throws if the file can't be written; nothing may be changed then. */
  begin(): void {
    if (this.#path === null) return
    this.#refuseForeign(this.#path)
    if (this.#failure !== null) this.#replace(this.#path)
    if (this.#timer !== null) return
    this.#timer = setTimeout(this.#save, Math.max(gatherMs, this.#tookMs / maxShare)).unref()
    process.once('exit', this.#save)
  }

  /** Writes what was changed since the last time. Throws if it can't be written. */
  flush(): void {
    if (this.#path === null || !this.#stopWaiting()) return
    this.#refuseForeign(this.#path)
    this.#replace(this.#path)
  }

  readonly #save = (): void => {
    try {
      this.flush()
    } catch (error) {
      if (!(error instanceof Error)) throw error
      // The next change fails if this can't be repeated then.
      this.#failure = error
    }
  }

  /** @returns whether anything has changed */
  #stopWaiting(): boolean {
    if (this.#timer === null) return this.#failure !== null
    clearTimeout(this.#timer)
    this.#timer = null
    process.off('exit', this.#save)
    return true
  }

  #replace(path: string): void {
    const startMs = performance.now()
    try {
      replaceDurably(path, formatMemory(this.memory))
    } catch (error) {
      const text = describeUnwritten(`the emulator's data file ${path}`, findCode(error))
      throw new EdgewiseError(
        'access',
        text,
        'The emulator loses its last changes. Fix the cause, then start it again.',
      )
    }
    this.#failure = null
    this.#lastSeen = readStats(path)
    this.#tookMs = performance.now() - startMs
  }

  /**
   * Refuses a file that another process has written: two writers would lose each other's changes. A
   * removed file is written again.
   */
  #refuseForeign(path: string): void {
    const stats = readStats(path)
    if (stats === null) return
    if (stats.ino === this.#lastSeen?.ino && stats.size === this.#lastSeen.size) return
    throw new EdgewiseError(
      'unavailable',
      `another process has written the data file ${path}`,
      'Give each emulator a file of its own, and start this one again.',
    )
  }
}

function load(path: string): Memory {
  const bytes = loadBounded(path, maxBytes)
  if (isFault(bytes)) {
    if (bytes.code === 'ENOENT') return createMemory()
    throw new EdgewiseError(
      'access',
      `the emulator's data file ${path} could not be read: ${bytes.reason}`,
      'Choose a file that can be read and written.',
    )
  }
  try {
    return parseMemory(bytes.toString('utf8'))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new EdgewiseError(
      'record-damaged',
      `the emulator's data file ${path} is damaged, or of another version: ${error.message}`,
      'Restore it from a copy, or remove it: the emulator then starts with nothing configured.',
    )
  }
}
