import type { FileChanges } from './folder/write-file.ts'

/** Files that make up records, wherever they are kept. Paths are relative, with `/`. */
export interface StateFiles {
  /** Where they are, for messages. */
  readonly location: string
  /** A file's place, for messages. */
  describePath(path: string): string
  /**
   * What is read from now on is what is there by then: others may have written while the lock was
   * free.
   */
  refresh(): void
  /** Texts of all files in a folder, however deep, by path. */
  load(folder: string): Promise<Map<string, string>>
  /**
   * Replaces files durably on this machine. What belongs to a later step is never there without all
   * of the earlier ones.
   *
   * @param message what a history of the files says of it: a line, then perhaps more after an empty
   * one
   */
  write(steps: FileChanges[], message: string): Promise<void>
  /**
   * Writes as `write` does, for all machines at once: when it fails, this machine goes on without
   * it as well.
   */
  publish(steps: FileChanges[], message: string): Promise<void>
  /**
   * Keeps a small file that changes all the time: durable on this machine at once, for others with
   * what is written next.
   */
  saveLocally(path: string, text: string): Promise<void>
  /** Such a file as this machine has it, and as others do. */
  loadLocalAndShared(path: string): Promise<{ here: string | null; shared: string | null }>
  /**
   * Publishes everything written so far; null where what is written is where everybody looks.
   *
   * @throws EdgewiseError `record-unreachable` when it can't be, `record-moved` when somebody else
   * has written to it
   */
  readonly share: (() => Promise<void>) | null
}
