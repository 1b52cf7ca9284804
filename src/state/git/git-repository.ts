/**
 * What a commit changes, by path: a new text, what stands under an id already, or null for what is
 * to go.
 */
export type Changes = ReadonlyMap<string, string | { id: string } | null>

/**
 * What a record in git asks of a repository. Neither work tree nor index take part. Refs are given
 * in full. Whatever needs the remote throws EdgewiseError `record-unreachable` when it has no
 * answer.
 */
export interface GitRepository {
  /**
   * Folder of the repository itself, shared by its work trees; a place for files of this machine.
   */
  readonly commonFolder: string
  /** The remote that others share; null where the record stays in this repository. */
  readonly remote: string | null
  /** The commit that a ref of this repository is at; null where there is none. */
  findTip(ref: string): Promise<string | null>
  /** The commit that a ref of the remote is at, brought here. */
  fetch(ref: string): Promise<string | null>
  /**
   * The commit that a branch of the remote was at when this repository last saw it; null where it
   * never did.
   */
  findLastSeen(ref: string): Promise<string | null>
  /** The latest commit that two have in common. */
  findMergeBase(one: string, other: string): Promise<string | null>
  /** Texts of a file, or of all files in a folder, by path. */
  loadFiles(commit: string, path: string): Promise<Map<string, string>>
  /** Names what stands at a path: equal contents have equal ids. Null where there is nothing. */
  findId(commit: string, path: string): Promise<string | null>
  /** Makes a commit durably; no ref is at it yet. */
  commit(parent: string | null, changes: Changes, message: string): Promise<string>
  /**
   * Moves a ref of this repository if it is still at `from` (null: is not there); false otherwise.
   * To null takes it away.
   */
  move(ref: string, from: string | null, to: string | null): Promise<boolean>
  /** The same for a ref of the remote. `to` has to have `from` in its history. */
  push(ref: string, from: string | null, to: string | null): Promise<boolean>
}
