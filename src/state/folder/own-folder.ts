import type { LogOwner } from '../format/log-file.ts'
import type { Disk } from './disk.ts'
import type { FolderRegister } from './folder-register.ts'
import type { DurableFolders } from './write-file.ts'

/** A folder of state, as one process writes to it. */
export interface OwnFolder {
  disk: Disk
  root: string
  /** Creates the folders of its files. */
  folders: DurableFolders
  /** Identifies this process among those that may write here. */
  temporary: string
  owner: LogOwner
  /** Nothing is written after this process has lost it: others may have written since. */
  lock: FolderRegister
}
