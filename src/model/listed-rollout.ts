import type { Decision, Rollout } from './rollout.ts'

/**
 * - `running`: a wave is being sent. `interrupted`: its process died before the end of the wave.
 * - `pausing`: the pause or the health check after a wave. `ready`: the next wave may begin.
 * - `waiting-for-approval`, `approved`: of the next wave. `paused`: by `rollout pause`.
 * - `rolling-back`: its rollback is unfinished.
 */
export type ListedState =
  | 'running'
  | 'interrupted'
  | 'pausing'
  | 'ready'
  | 'waiting-for-approval'
  | 'approved'
  | 'paused'
  | 'rolling-back'

/** An unfinished rollout. */
export interface ListedRollout {
  id: string
  /** Id of its last apply; null before its first wave. */
  apply: string | null
  /** Commit of the workspace, and the user that started it; null if unknown. */
  commit: string | null
  author: string | null
  /** ISO 8601. */
  startedAt: string
  /** Number of the current wave, its number of domains, and the number of waves. */
  wave: number
  domains: number
  waves: number
  state: ListedState
  /** When this state began, as far as it is recorded, ISO 8601. */
  since: string
  /** Command that continues it. */
  command: string
}

/** What a command decided about a rollout. */
export type Verb =
  | 'approved'
  | 'already-approved'
  | 'approved-and-resumed'
  | 'resumed'
  | 'paused'
  | 'already-paused'
  | 'aborted'

/** A decided rollout. */
export interface Decided {
  verb: Verb
  rollout: Rollout
  /** Who decided it, and when: an earlier command for `already-…`. */
  by: Decision
}
