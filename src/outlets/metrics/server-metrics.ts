import { collectDefaultMetrics, Registry } from 'prom-client'
import { createInstruments, durations, type Instruments } from './instruments.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import { addCounts, toLabels, addActions, addItems, createItemMetrics } from './items.ts'
import type { Drift } from '../../core/model/drift.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { ErrorCode } from '../../core/model/edgewise-error.ts'
import type { Actor } from '../../core/model/people/identity.ts'
import type { Action } from '../../core/model/people/roles.ts'
import type { ListedRollout } from '../../core/model/listed-rollout.ts'

export type ServerMetrics = ReturnType<typeof createServerMetrics>

/** Creates the metrics of a server in a registry of their own. */
export function createServerMetrics(common: { workspace: string; account: string }) {
  const registry = new Registry()
  registry.setDefaultLabels(common)
  const instruments = createInstruments(registry)
  return {
    ...createErrorMetrics(instruments),
    ...createRunMetrics(instruments),
    ...createStateMetrics(instruments),
    ...createLeaderMetrics(instruments),
    ...createBranchMetrics(instruments),
    ...createOutboxMetrics(instruments),
    /** Adds the metrics of this process that Node has: memory, event loop, processor. */
    addProcess: () => collectDefaultMetrics({ register: registry }),
    /** Formats all metrics, and returns them with their content type. */
    async format(format: 'prometheus' | 'openmetrics'): Promise<{ type: string; text: string }> {
      const text = await registry.metrics()
      return format === 'prometheus'
        ? { type: Registry.PROMETHEUS_CONTENT_TYPE, text }
        : { type: Registry.OPENMETRICS_CONTENT_TYPE, text: toOpenMetrics(text) }
    },
  }
}

/**
 * Converts the text format of Prometheus, as prom-client prints it, to OpenMetrics: the family of a
 * counter has no `_total`. prom-client's own format renames the counters of a registry for good, so
 * that one registry can't be printed in both.
 */
function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const counters = new Set(
    lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []),
  )
  const converted = lines.map((line) =>
    line.replace(/^(# (?:TYPE|HELP) )(\S+)_total(?= )/, (whole, start: string, name: string) =>
      counters.has(name) ? `${start}${name}` : whole,
    ),
  )
  return `${converted.join('\n')}\n# EOF\n`
}

/** Verdicts that are remembered, so that a resumed watch does not count one again. */
const maxVerdicts = 1000

/** Creates the metrics of what runs do: their writes, durations, waits and calls. */
function createRunMetrics({ counter, histogram, unknown }: Instruments) {
  const writes = counter('writes_total', 'Writes of finished applies by outcome.', ['outcome'])
  const parts = counter('parts_total', 'Items of domains in these writes.', ['outcome'])
  const verdicts = counter('wave_verdicts_total', 'Verdicts of health checks.', ['verdict'])
  const labels = ['kind', 'status']
  const runs = histogram(durations, 'run_duration_seconds', 'Durations of runs.', labels)
  const waits = histogram(durations, 'lock_wait_seconds', 'Times waited for the lock.')
  const left = unknown('budget_calls_left', 'Calls that the call budget allows at once.')
  const limit = unknown('budget_calls_limit', 'Calls that the call budget allows a minute.')
  let seen: string[] = []
  let current = ''
  const recordVerdict = (apply: string, wave: number, verdict: string) => {
    const key = JSON.stringify([apply, wave, verdict])
    if (seen.includes(key)) return
    seen = [...seen, key].slice(-maxVerdicts)
    verdicts.labels(verdict).inc()
  }
  return {
    /**
     * Counts an event. @param id what identifies the rollout or apply across restarts of a watch;
     * absent: the id of the last apply that started
     */
    recordEvent(event: ApplyEvent, id?: string): void {
      if (event.type === 'apply.started') current = event.apply
      if (event.type === 'wave.judged') recordVerdict(id ?? current, event.wave, event.verdict)
      if (event.type !== 'apply.finished') return
      addCounts(writes, toLabels(event, event.open))
      addCounts(parts, toLabels(event.parts, event.open))
    },
    /** Records a run. `status` is one of few words. */
    recordApply(kind: 'apply' | 'rollout' | 'drift' | 'plan', status: string, seconds: number) {
      runs.labels(kind, status).observe(seconds)
    },
    recordLockWait: (seconds: number) => waits.observe(seconds),
    setBudget(callsLeft: number, callsPerMinute: number): void {
      left.set(callsLeft)
      limit.set(callsPerMinute)
    },
  }
}

/** Creates the metrics of the recorded state, and of what differs from it. */
function createStateMetrics(instruments: Instruments) {
  const { gauge, unknown } = instruments
  const changes = gauge('plan_changes', 'Changes of the current plan.', ['action'])
  const planned = unknown('plan_writes', 'Writes of the current plan.')
  const drifts = gauge('drift_items', 'Items that differ.', ['kind', 'confidence'])
  const items = createItemMetrics(instruments)
  const oldest = unknown('confirmation_age_oldest_seconds', 'Age of the oldest confirmation.')
  return {
    setPlan(plan: Pick<Plan, 'changes' | 'writes'>): void {
      changes.reset()
      addActions(changes, plan.changes)
      planned.set(plan.writes.length)
    },
    setDrift(drift: Pick<Drift, 'items'>): void {
      drifts.reset()
      for (const { kinds, confidence } of drift.items)
        for (const kind of kinds) drifts.labels(kind, confidence).inc()
    },
    /** Replaces the ages of confirmations; `now` in seconds since 1970. */
    setConfirmations(recorded: RecordedState, now: number): void {
      items.age.reset()
      items.items.reset()
      const seconds = addItems(recorded, now, items)
      if (seconds === null) oldest.remove()
      else oldest.set(seconds)
    },
  }
}

/** The branch; times in seconds since 1970, null if unknown. */
interface BranchFacts {
  commit: string | null
  appliedAt: number | null
  inSync: boolean
}

/** Creates the counters of errors, and of what a server was sent. */
function createErrorMetrics({ counter }: Instruments) {
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
function createLeaderMetrics({ counter, gauge, unknown }: Instruments) {
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
function createBranchMetrics({ gauge, unknown }: Instruments) {
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
function createOutboxMetrics({ unknown }: Instruments) {
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
