/**
 * What a record in a folder asks of a file system, step by step. Nothing but what `sync` was called
 * for outlives a crash of the machine: the text of a file by its own path, its name by its
 * folder's.
 */
export interface Disk {
  /** Text of a file; null where there is none. */
  read(path: string): Promise<string | null>
  /** Names in a folder; none where there is no folder. */
  list(folder: string): Promise<string[]>
  exists(path: string): Promise<boolean>
  /** Makes a folder in one that is there, for its owner only; false when the name is taken. */
  makeFolder(path: string): Promise<boolean>
  /** Makes a file that is not there yet, for its owner only; false when the name is taken. */
  create(path: string, text: string): Promise<boolean>
  /** Gives a file a second name; false when that is taken. */
  link(from: string, to: string): Promise<boolean>
  /** Makes a file's text or a folder's names durable. */
  sync(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Takes away a file, or a folder with all it holds; what is not there is as good as gone. */
  remove(path: string): Promise<void>
}
