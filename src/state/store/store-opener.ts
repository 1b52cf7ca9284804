import type { DatabaseConfig, StateConfig } from '../../core/model/config.ts'
import type { Note } from '../../core/model/text/words.ts'
import type { Disk } from '../folder/disk.ts'
import type { GitRepository } from '../git/git-repository.ts'
import type { Locks } from '../locks/locks.ts'
import type { Database } from '../postgres/database.ts'
import type { Leadership } from '../postgres/leadership.ts'
import type { AccountStop } from './account-stop.ts'
import type { StateFiles } from './state-files.ts'
import type { StateKey, Store } from './store.ts'

/** Identity of the state of a workspace, and its configured location. */
export interface StateLocation extends StateKey {
  /** Folder of the workspace. */
  root: string
  account: string
  state: StateConfig
}

/** Environment for opening state. */
export interface StateEnvironment {
  disk: Disk
  /** Identifies this process among all that may write to the same folder. */
  processName: string
  /** Folder of the user, shared by all workspaces on this machine; null if the user has none. */
  userFolder?: string | null
  /** Prints a note. */
  note?: Note
  /** Opens the repository that contains a folder; null if there is none. */
  openGit(folder: string, remote: string): Promise<GitRepository | null>
  /** Opens a PostgreSQL database; absent where none can be configured. */
  openDatabase?(config: DatabaseConfig): Database
}

/** Opened state, with the locks and the stop of its account. */
export interface OpenState {
  store: Store
  /** Files of the store, for copies of whole states. */
  files: StateFiles
  locks: Locks
  accountStop: AccountStop
  /** Election of the controller of the workspace; absent for stores without one. */
  leadership?: Leadership
  /** Finds the role of the database that this process has; absent for other stores. */
  findUser?(): Promise<string>
  /** Notes for the user before relying on it. */
  notes: string[]
  /** Finds the folder of the state if it is inside the checkout of the workspace; else null. */
  findFolderInCheckout(): string | null
}

/** Opens the state of a workspace in one kind of store. */
export type StoreOpener = (place: StateLocation, world: StateEnvironment) => Promise<OpenState>
