import type { Domain } from '../../core/model/item.ts'
import type { FileChanges } from '../folder/write-file.ts'

/** Files of all workspaces in a store, for reading. Paths are relative, with `/`. */
export interface SharedFiles {
  /** Describes the path of a file, for messages. */
  describePath(path: string): string
  /** Loads the texts of some files, and of all files in some folders, at any depth, by path. */
  load(...paths: string[]): Promise<Map<string, string>>
  /** Lists the names of the folders at the top. */
  listTopFolders(): Promise<string[]>
  /** Lists the paths of all files in a folder, at any depth. */
  listPaths(folder: string): Promise<string[]>
}

/**
 * Checks the files of other workspaces before a change, and throws to refuse it. Called again when
 * another process may have changed them meanwhile.
 */
export type Guard = (files: SharedFiles) => Promise<void>

/** Journal entries of any workspace with changes that only this machine has. */
export interface LocalChanges {
  paths: string[]
  /** Commit that has the changes; null without any. */
  commit: string | null
}

/** Files of state, in any store. */
export interface StateFiles extends SharedFiles {
  /** Their location, for messages. */
  readonly location: string
  /** Forgets what was loaded: others may have written while the lock was free. */
  refresh(): void
  /**
   * Reads all files as they are at one moment; absent where nobody else writes without the lock of
   * the account.
   */
  readAtOnce?<T>(work: (files: SharedFiles) => Promise<T>): Promise<T>
  /** Hashes the files in a folder; absent where that takes as long as loading them. */
  hashFolder?(folder: string): Promise<string>
  /**
   * Replaces files durably on this machine. The changes of a later step never exist without all
   * those of the earlier ones.
   *
   * @param message commit message for stores with a history: a subject, then an optional body after
   *   an empty line
   */
  write(steps: FileChanges[], message: string): Promise<void>
  /**
   * Writes like `write`, for files of one state only. A store with a history may have the change in
   * it later, together with others.
   */
  record(steps: FileChanges[], message: string): Promise<void>
  /**
   * Writes like `write`, for all machines: if it fails, this machine continues without the changes
   * too.
   */
  publish(steps: FileChanges[], message: string, guard?: Guard): Promise<void>
  /**
   * Saves a small file that changes often: durable on this machine when it returns, shared with the
   * next write.
   */
  saveLocally(path: string, text: string): Promise<void>
  /** Loads such a file as saved on this machine, and as last shared. */
  loadLocalAndShared(path: string): Promise<{ here: string | null; shared: string | null }>
  /**
   * Adds a file, for all machines, without the lock: on top of what others have written. Nothing
   * else can be written afterwards until `refresh`.
   */
  add(path: string, text: string, message: string): Promise<void>
  /**
   * Lists the journal entries with changes of earlier processes that were only on this machine, and
   * can't be kept: another process has written since. `share` forgets them.
   */
  listDropped(): Promise<LocalChanges>
  /** Lists the journal entries with changes that only this machine has, and that can be kept. */
  listUnshared(): Promise<LocalChanges>
  /**
   * Loads those of the batches in a folder that name a domain, by path, and perhaps others; absent
   * if all of them must be loaded to find these.
   */
  loadNaming?(folder: string, domain: Domain): Promise<Map<string, string>>
  /**
   * Publishes everything written so far; null if writes are shared immediately.
   *
   * @throws EdgewiseError `record-unreachable` if the store cannot be reached, `record-moved` if
   *   another process has written to it
   */
  readonly share: (() => Promise<void>) | null
  /**
   * Moves changes that are only in a log to their files, and forgets them; nothing if the lock is
   * lost. Absent without a log.
   */
  checkpoint?(): Promise<void>
}

const none = async (): Promise<LocalChanges> => ({ paths: [], commit: null })
/** The part of a store whose changes are shared at once. */
export const noLocalChanges = { listDropped: none, listUnshared: none }
