import type { ErrorCode } from '../../core/model/edgewise-error.ts'
import type { Actor } from '../../core/model/people/identity.ts'
import type { Action } from '../../core/model/people/roles.ts'
import type { ListedRollout } from '../../core/model/listed-rollout.ts'
import type { Instruments } from './instruments.ts'

/** The branch; times in seconds since 1970, null if unknown. */
interface BranchFacts {
  commit: string | null
  appliedAt: number | null
  inSync: boolean
}

/** Creates the counters of errors, and of what a server was sent. */
export function createErrorMetrics({ counter }: Instruments) {
  const errors = counter('errors_total', 'Errors by code.', ['code'])
  const invalid = counter('invalid_commits_total', 'Commits that were invalid or too large.')
  const denied = counter('denied_total', 'Actions that roles did not allow.', [
    'action',
    'known_by',
  ])
  const acts = counter('acts_total', 'Entries of the history, while this replica leads.', [
    'kind',
    'known_by',
  ])
  const webhooks = counter('webhooks_total', 'Webhooks by result.', ['result'])
  for (const result of ['accepted', 'refused']) webhooks.labels(result).inc(0)
  return {
    countError: (code: ErrorCode | 'defect') => errors.labels(code).inc(),
    countInvalidCommit: () => invalid.inc(),
    countDenied: (action: Action | 'other', knownBy: Actor['knownBy']) =>
      denied.labels(action, knownBy).inc(),
    /** Counts an entry of the history: both are of few words. */
    countAct: (kind: string, knownBy: Actor['knownBy']) => acts.labels(kind, knownBy).inc(),
    countWebhook: (result: 'accepted' | 'refused') => webhooks.labels(result).inc(),
  }
}

/** Creates the metrics of the leader, and of the rollouts that it works on. */
export function createLeaderMetrics({ counter, gauge, unknown }: Instruments) {
  const rollouts = gauge('rollouts', 'Unfinished rollouts by state.', ['state'])
  const unattended = unknown('rollouts_unattended', 'Rollouts that nothing works on, though due.')
  const takenUp = counter('rollouts_taken_up_total', 'Rollouts that this replica took up.')
  const database = unknown('database_up', '1 if the database of the state was reached last.')
  const leader = gauge('leader', '1 if this replica leads.')
  const term = unknown('leader_term', 'Number of the term of the leader.')
  return {
    setRollouts(listed: ListedRollout[]): void {
      rollouts.reset()
      for (const { state } of listed) rollouts.labels(state).inc()
    },
    setUnattended: (count: number) => unattended.set(count),
    countTakenUp: () => takenUp.inc(),
    setDatabase: (isReached: boolean) => database.set(Number(isReached)),
    /** @param number of its term; null for a replica that does not lead */
    setLeader(number: number | null): void {
      leader.set(Number(number !== null))
      if (number === null) {
        term.remove()
        unattended.remove()
      } else term.set(number)
    },
  }
}

/** Creates the metrics of the branch that is followed. */
export function createBranchMetrics({ gauge, unknown }: Instruments) {
  const commit = gauge('branch_info', 'Commit that was fetched last.', ['commit'])
  const fetched = unknown('branch_fetch_time_seconds', 'Last fetch that succeeded, Unix time.')
  const applied = unknown('branch_apply_time_seconds', 'Last complete apply, Unix time.')
  const synced = gauge('branch_in_sync', '1 if the commit is applied.')
  return {
    setBranch(facts: BranchFacts): void {
      commit.reset()
      if (facts.commit !== null) commit.labels(facts.commit).set(1)
      if (facts.appliedAt !== null) applied.set(facts.appliedAt)
      synced.set(Number(facts.inSync))
    },
    /** @param at time of a fetch of the branch, in seconds since 1970 */
    setFetched: (at: number) => fetched.set(at),
  }
}

/** Creates the metrics of the notifications that a database keeps. */
export function createOutboxMetrics({ unknown }: Instruments) {
  const pending = unknown('outbox_pending', 'Notifications to be sent.')
  const givenUp = unknown('outbox_given_up', 'Notifications that were given up.')
  const waiting = unknown('outbox_oldest_seconds', 'Age of the oldest notification to be sent.')
  return {
    setOutbox(facts: { pending: number; givenUp: number; oldestSeconds: number }): void {
      pending.set(facts.pending)
      givenUp.set(facts.givenUp)
      waiting.set(facts.oldestSeconds)
    },
  }
}
