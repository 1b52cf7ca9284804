import type { Act, Applied, LogEntry } from './applied.ts'
import type { StoreName } from './config.ts'
import type { Domain } from './item.ts'
import type { StopFile } from './generated/state-types.ts'
import type { Actor } from './people/identity.ts'
import type { Decision, Rollout } from './rollout.ts'
import { formatTime } from './text/words.ts'

/** A stop of all writes of an account: who made it, how that is known, when, and why. */
export type Stop = Omit<StopFile, 'format' | 'by'> & { by?: Actor }

/** A stop that is recorded, or why it can't be read: nothing is sent then either. */
export type FoundStop = Stop | { fault: string }

/** Names a stop, so that nobody lifts another one than the one that was shown. */
export function nameStop(stop: FoundStop): string {
  return 'fault' in stop ? 'unreadable' : stop.at
}

/** Describes in a clause who has stopped an account, when and why. */
export function describeStop(stop: FoundStop): string {
  if ('fault' in stop)
    return `nothing of the account is sent, since its stop can't be read (${stop.fault})`
  const { author, knownBy, at, reason } = stop
  const who = { user: author, ci: `${author} (CI)`, serve: `edgewise serve (${author})` }[knownBy]
  const why = reason === undefined ? '' : `: ${reason}`
  return `all writes of the account were stopped by ${who} at ${formatTime(at)}${why}`
}

/** What was decided about all writes of an account. */
export interface StopDecision {
  account: string
  decision: 'stopped' | 'already-stopped' | 'resumed' | 'not-stopped'
  /** The stop that holds, or that was lifted; null without one. */
  stop: FoundStop | null
  store: StoreName
  /** Age from which a runner looks at the stop again before it sends, seconds. */
  lookSeconds: number
}

/**
 * What an unfinished rollout does, or waits for.
 *
 * - `running`: a wave is being sent. `interrupted`: its process died before the end of the wave.
 * - `incomplete`: a part of an approved wave was refused or is in-doubt; it is sent again.
 * - `pausing`: the pause or the health check after a wave. `ready`: the next wave may begin.
 * - `waiting-for-approval`, `approved`: of the next wave. `paused`: by `rollout pause`.
 * - `rolling-back`: its rollback is unfinished.
 */
export const listedStates = {
  running: 'is being sent',
  interrupted: 'interrupted',
  incomplete: 'incomplete',
  pausing: 'pause or health check',
  ready: 'ready for the next wave',
  'waiting-for-approval': 'waits for approval',
  approved: 'approved',
  paused: 'paused',
  'rolling-back': 'rollback unfinished',
} as const
export type ListedState = keyof typeof listedStates

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
  /** Who has approved the current wave, first to last; absent for nobody. */
  approvedBy?: string[]
  /** Command that continues it. */
  command: string
}

/** Decision of a command about a rollout. */
type Verb =
  | 'approved'
  | 'partly-approved'
  | 'already-approved'
  | 'resumed'
  | 'paused'
  | 'already-paused'
  | 'aborted'

/** A decided rollout. */
export interface Decided {
  verb: Verb
  rollout: Rollout
  /** Its author and time: those of an earlier command for `already-…`. */
  by: Decision
  /** Domains of the wave that need another approver, for `partly-approved`. */
  lacking?: Domain[]
  /** Hash of its entry in the chained history; absent for `already-…`. */
  history?: string
}

/** Findings of the last drift check: items, and domains that the service does not have. */
export type DriftCounts = {
  at: string
  pending: number
  live: number
  inDoubt: number
  unanswered: number
}

/** Findings of a controller so far; times are ISO 8601, null if unknown. */
export type Findings = {
  commit: string | null
  fetchedAt: string | null
  /**
   * End of the last apply of a commit; `message`: why not everything is applied; `left`: what
   * rollouts that have ended left on hold, or worse.
   */
  applied: {
    commit: string
    at: string
    status: string
    message: string | null
    left?: string[] | undefined
  } | null
  drift: DriftCounts | null
  /** Work of the leader at the moment; null while it waits for something to do. */
  working: { what: string; since: string } | null
  /** Rollouts whose next step has been due for more than a minute, and that nothing works on. */
  unattended: string[]
  /** Failure at the moment; null if there is none. */
  problem: string | null
  /** What happened to leaders and the database, first to last; absent for nothing. */
  happened?: LogEntry[]
}

/** Knowledge of a controller, for people. */
export interface Overview extends Findings {
  workspace: string
  /** `ending`: it leads no more, and will not again. */
  role: 'leader' | 'standby' | 'ending'
  branch: { location: string; name: string }
  /** Stop of all writes of the account; null without one. */
  stop: FoundStop | null
  rollouts: OpenRollout[]
  /** Rollouts that put values on hold, and the latest that have ended otherwise. */
  ended: Rollout[]
  recent: Recent
}

/** What the chained history has at its end: entries, and the applies among them. */
export interface Recent {
  /** Number of the newest entry. */
  newest: number
  acts: Act[]
  applies: Applied[]
}

/** An unfinished rollout, with all of its waves. */
export interface OpenRollout {
  listed: ListedRollout
  rollout: Rollout
  /** Identifies what a decision is about; another one after each progress and decision. */
  step: string
}
