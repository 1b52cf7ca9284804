import type { Solver } from '../plan/cover/dual-bound.ts'
import type { Clock } from '../model/clock.ts'
import type { Transport } from '../service/transport.ts'
import type { Disk } from '../state/folder/disk.ts'
import type { GitRepository } from '../state/git/git-repository.ts'
import type { Machine } from '../state/lock.ts'

/**
 * The world outside: what a program may know and do. Handed in, so that tests and other hosts can
 * choose.
 */
export interface Outside {
  env: Record<string, string | undefined>
  clock: Clock
  /** In [0, 1). */
  random(): number
  /** A text that no other call returns, on any machine. */
  newId(): string
  /** Who runs this, for locks and the history: `name@machine`. */
  user: string
  /** Aborted when the user interrupts: nothing more is sent, and what was begun is recorded. */
  signal: AbortSignal
  /** How calls get to the service, where not over this machine's network. */
  transport?: Transport
  machine: Machine
  disk: Disk
  /** The repository that a folder lies in; absent: by the program git of this machine. */
  openGit?(folder: string, remote: string): Promise<GitRepository | null>
  /**
   * Proves how few writes a plan can have; absent: loaded when it is needed; null: proof by
   * counting.
   */
  solver?: Solver | null
}
