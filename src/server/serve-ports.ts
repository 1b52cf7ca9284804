import type { DatabaseConfig } from '../core/model/config.ts'
import type { Rules } from '../operations/people/decide.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import type { ConnectionPool } from '../state/postgres/database.ts'
import type { Branch, BranchOptions } from './branch/branch.ts'
import type { Controller } from './controller.ts'
import type { Logger } from './logger.ts'
import type { SourceContext } from './pages/create-page-source.ts'
import type { PulseTerm } from './leader/pulse.ts'
import type { RunPorts } from './leader/runs.ts'

/** Ports of the controller. */
export interface ServePorts extends Pick<RunPorts, 'loadCommit' | 'buildDriftRequest'> {
  outside: Outside
  logger: Logger
  /** Loads who may decide by a commit, which a process of its own checks; as `loadCommit` fails. */
  loadRules(branch: Branch, commit: string, outside: Outside): Promise<Rules>
  openBranch(options: BranchOptions): Promise<Branch>
  /** Makes the page of the plan of a folder, without blocking this process. */
  ownPage: SourceContext['ownPage']
  /** Creates connections whose statements are given up early, for signs of life; absent: others. */
  createLifePool?(config: DatabaseConfig): ConnectionPool
  /** Serves the HTTP interface until its end. */
  listen(controller: Controller): Promise<Interface>
}

/** The HTTP interface of a replica. */
export interface Interface {
  /** Also gives signs of life of a term while this process is busy; null: of none. */
  lead(term: PulseTerm | null): void
  close(): Promise<void>
}
