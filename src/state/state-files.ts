import type { FileChanges } from './folder/write-file.ts'

/** Files of state, in any store. Paths are relative, with `/`. */
export interface StateFiles {
  /** Their location, for messages. */
  readonly location: string
  /** Describes the path of a file, for messages. */
  describePath(path: string): string
  /** Forgets what was loaded: others may have written while the lock was free. */
  refresh(): void
  /** Loads the texts of all files in a folder, at any depth, by path. */
  load(folder: string): Promise<Map<string, string>>
  /**
   * Replaces files durably on this machine. The changes of a later step never exist without all
   * those of the earlier ones.
   *
   * @param message commit message for stores with a history: a subject, then an optional body after
   *   an empty line
   */
  write(steps: FileChanges[], message: string): Promise<void>
  /**
   * Writes like `write`, for all machines: if it fails, this machine continues without the changes
   * too.
   */
  publish(steps: FileChanges[], message: string): Promise<void>
  /**
   * Saves a small file that changes often: durable on this machine when it returns, shared with the
   * next write.
   */
  saveLocally(path: string, text: string): Promise<void>
  /** Loads such a file as saved on this machine, and as last shared. */
  loadLocalAndShared(path: string): Promise<{ here: string | null; shared: string | null }>
  /**
   * Publishes everything written so far; null if writes are shared immediately.
   *
   * @throws EdgewiseError `record-unreachable` if the store cannot be reached, `record-moved` if
   *   another process has written to it
   */
  readonly share: (() => Promise<void>) | null
}
