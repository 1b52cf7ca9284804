/**
 * File-system operations of a folder store. Only what `sync` was called for survives a crash of the
 * machine: the text of a file after a sync of its own path, its name after a sync of its folder.
 */
export interface Disk {
  /** Returns the text of a file; null if it does not exist. */
  read(path: string): Promise<string | null>
  /** Lists the names in a folder; none if it does not exist. */
  list(folder: string): Promise<string[]>
  exists(path: string): Promise<boolean>
  /**
   * Finds a link of a checkout on the way to a folder, or anywhere in the folder if it lies in the
   * checkout; null if there is none. Absent on a disk without links.
   */
  findLink?(checkout: string, folder: string): Promise<string | null>
  /** Creates a folder in an existing one, for its owner only; false if the name is taken. */
  makeFolder(path: string): Promise<boolean>
  /** Creates a file, for its owner only; false if the name is taken. */
  create(path: string, text: string): Promise<boolean>
  /**
   * Adds text to the end of a file; does nothing and returns false if the fence is broken or the
   * file does not exist. A crash can cut off only text that no sync followed.
   */
  append(path: string, text: string, fence?: Fence): Promise<boolean>
  /** Adds a second name to a file; false if the name is taken. */
  link(from: string, to: string): Promise<boolean>
  /** Makes a file's text or a folder's names durable. */
  sync(path: string): Promise<void>
  /** Does the same for what another process may remove; false if it does not exist. */
  syncIfThere(path: string): Promise<boolean>
  /**
   * Makes everything in a folder durable, at any depth, by one operation; false if this machine has
   * none, or does not end it in time.
   */
  syncAll(folder: string): Promise<boolean>
  /** Renames a file; does nothing and returns false if the fence is broken. */
  rename(from: string, to: string, fence?: Fence): Promise<boolean>
  /**
   * Removes a file, or a folder with its contents, if it exists; does nothing and returns false if
   * the fence is broken.
   */
  remove(path: string, fence?: Fence): Promise<boolean>
}

/** Condition of a change, tested directly before it: nothing comes between in this process. */
export interface Fence {
  folder: string
  /** Tests the names in the folder. */
  isIntact(names: string[]): boolean
}
