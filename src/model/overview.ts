import type { ListedRollout } from './listed-rollout.ts'
import type { Rollout } from './rollout.ts'

/** What the last drift check has found: items, and domains that the service does not have. */
export interface DriftCounts {
  at: string
  pending: number
  live: number
  inDoubt: number
  unanswered: number
}

/** What a controller knows, for people; times are ISO 8601, null if unknown. */
export interface Overview {
  workspace: string
  role: 'leader' | 'standby'
  branch: { location: string; name: string }
  commit: string | null
  fetchedAt: string | null
  /** How the last apply of a commit ended; `message`: why not everything is applied. */
  applied: { commit: string; at: string; status: string; message: string | null } | null
  drift: DriftCounts | null
  /** Why the last round failed; null if it did not. */
  problem: string | null
  rollouts: OpenRollout[]
  /** Rollouts that have ended and put domains on hold. */
  ended: Rollout[]
}

/** An unfinished rollout, with all of its waves. */
export interface OpenRollout {
  listed: ListedRollout
  rollout: Rollout
  /** Identifies what a decision is about; another one after each progress and decision. */
  step: string
}
