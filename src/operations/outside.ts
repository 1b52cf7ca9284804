import type { Clock } from '../service/write/call-budget.ts'
import type { Transport } from '../service/transport.ts'
import type { Disk } from '../state/folder/disk.ts'
import type { GitRepository } from '../state/git/git-repository.ts'
import type { Machine } from '../state/lock.ts'

/** The world outside: what a program may know and do. Handed in, so that tests and other hosts can choose. */
export interface Outside {
  env: Record<string, string | undefined>
  clock: Clock
  /** In [0, 1). */
  random(): number
  /** How calls get to the service, where not over this machine's network. */
  transport?: Transport
  machine: Machine
  disk: Disk
  /** The repository that a folder lies in; absent: by the program git of this machine. */
  openGit?(folder: string, remote: string): Promise<GitRepository | null>
}
