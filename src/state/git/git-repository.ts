/**
 * Changes of a commit, by path: a new text, the id of an existing object, or null for a deletion.
 */
export type Changes = ReadonlyMap<string, string | { id: string } | null>

/**
 * A git repository as a store of state. Work tree and index are not used. Refs have their full
 * names. Methods that need the remote throw EdgewiseError `record-unreachable` without an answer.
 */
export interface GitRepository {
  /** The repository's own folder, shared by its work trees; has files of this machine too. */
  readonly commonFolder: string
  /** Name of the shared remote; null if the state is only in this repository. */
  readonly remote: string | null
  /** Finds the commit of a ref of this repository; null if the ref does not exist. */
  findTip(ref: string): Promise<string | null>
  /** Finds the commits of several refs, in their order. */
  findTips(refs: string[]): Promise<(string | null)[]>
  /**
   * Fetches the commit of a ref of the remote with its whole history; null if the ref does not
   * exist.
   *
   * @param present a commit that this repository has, or whose files are known; or null
   */
  fetch(ref: string, present?: string | null): Promise<string | null>
  /** Finds the latest common ancestor of two commits. */
  findMergeBase(one: string, other: string): Promise<string | null>
  /** Loads files, or all files in folders: texts by path. */
  loadFiles(commit: string, ...paths: string[]): Promise<Map<string, string>>
  /** Lists the names of the folders at the top. */
  listTopFolders(commit: string): Promise<string[]>
  /** Lists the paths of all files in a folder. */
  listPaths(commit: string, path: string): Promise<string[]>
  /** Finds the id of the contents at a path: equal contents have equal ids. Null if absent. */
  findId(commit: string, path: string): Promise<string | null>
  /** Creates a commit durably, without a ref, and returns its id. */
  commit(parent: string | null, changes: Changes, message: string): Promise<string>
  /**
   * Refuses a branch that is checked out: moving it would seem to change the user's files.
   *
   * @throws EdgewiseError `usage`, with the work tree
   */
  refuseCheckedOut(ref: string): Promise<void>
  /**
   * Moves a ref of this repository if it is still at `from`, and returns whether it was. A null
   * `from` means that the ref does not exist; a null `to` deletes it.
   */
  move(ref: string, from: string | null, to: string | null): Promise<boolean>
  /** Does the same for a ref of the remote. `to` must have `from` in its history. */
  push(ref: string, from: string | null, to: string | null): Promise<boolean>
}
