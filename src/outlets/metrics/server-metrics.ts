import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Plan } from '../../core/model/plan.ts'
import type { Drift } from '../../core/model/drift.ts'
import type { ErrorCode } from '../../core/model/edgewise-error.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { ListedRollout } from '../../core/model/listed-rollout.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { ages, addItems, toLabels } from './items.ts'

/** Verdicts that are remembered, so that a resumed watch does not count one again. */
const maxVerdicts = 1000
/** Upper limits of durations and of waits, seconds. */
const durations = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

/** The branch; times in seconds since 1970, null if unknown. */
export interface BranchFacts {
  commit: string | null
  appliedAt: number | null
  inSync: boolean
}

export type ServerMetrics = ReturnType<typeof createServerMetrics>

/** Creates the metrics of a server in a registry of their own. */
export function createServerMetrics(common: { workspace: string; account: string }) {
  const registry = new Registry()
  registry.setDefaultLabels(common)
  const options = (name: string, help: string, labelNames: string[] = []) => ({
    name: `edgewise_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  const gauge = (...args: Parameters<typeof options>) => new Gauge(options(...args))
  /** Creates a gauge without samples until it is set: 0 would be wrong. */
  const unknown = (name: string, help: string) => {
    const created = gauge(name, help)
    created.remove()
    return created
  }
  const counter = (...args: Parameters<typeof options>) => new Counter(options(...args))
  const writes = counter('writes_total', 'Writes of finished applies by outcome.', ['outcome'])
  const parts = counter('parts_total', 'Items of domains in these writes.', ['outcome'])
  const verdicts = counter('wave_verdicts_total', 'Verdicts of health checks.', ['verdict'])
  const errors = counter('errors_total', 'Errors by code.', ['code'])
  const invalid = counter('invalid_commits_total', 'Commits that were invalid or too large.')
  const webhooks = counter('webhooks_total', 'Webhooks by result.', ['result'])
  const runs = new Histogram({
    ...options('run_duration_seconds', 'Durations of runs.', ['kind', 'status']),
    buckets: durations,
  })
  const waits = new Histogram({
    ...options('lock_wait_seconds', 'Times waited for the lock.'),
    buckets: durations,
  })
  const changes = gauge('plan_changes', 'Changes of the current plan.', ['action'])
  const planned = unknown('plan_writes', 'Writes of the current plan.')
  const drifts = gauge('drift_items', 'Items that differ.', ['kind', 'confidence'])
  const age = new Histogram({
    ...options('confirmation_age_seconds', 'Ages of the confirmations of recorded items.'),
    buckets: ages,
  })
  const items = gauge('items', 'Recorded items by status.', ['status'])
  const oldest = unknown('confirmation_age_oldest_seconds', 'Age of the oldest confirmation.')
  const left = unknown('budget_calls_left', 'Calls that the call budget allows at once.')
  const limit = unknown('budget_calls_limit', 'Calls that the call budget allows a minute.')
  const rollouts = gauge('rollouts', 'Unfinished rollouts by state.', ['state'])
  const unattended = unknown('rollouts_unattended', 'Rollouts that nothing works on, though due.')
  const takenUp = counter('rollouts_taken_up_total', 'Rollouts that this replica took up.')
  const database = unknown('database_up', '1 if the database of the state was reached last.')
  const leader = gauge('leader', '1 if this replica leads.')
  const term = unknown('leader_term', 'Number of the term of the leader.')
  const commit = gauge('branch_info', 'Commit that was fetched last.', ['commit'])
  const fetched = unknown('branch_fetch_time_seconds', 'Last fetch that succeeded, Unix time.')
  const applied = unknown('branch_apply_time_seconds', 'Last complete apply, Unix time.')
  const synced = gauge('branch_in_sync', '1 if the commit is applied.')
  const pending = unknown('outbox_pending', 'Notifications to be sent.')
  const givenUp = unknown('outbox_given_up', 'Notifications that were given up.')
  const waiting = unknown('outbox_oldest_seconds', 'Age of the oldest notification to be sent.')
  const seen = new Set<string>()
  let current = ''
  const recordVerdict = (apply: string, wave: number, verdict: string) => {
    const key = JSON.stringify([apply, wave, verdict])
    if (seen.has(key)) return
    seen.add(key)
    for (const first of seen) {
      if (seen.size <= maxVerdicts) break
      seen.delete(first)
    }
    verdicts.labels(verdict).inc()
  }
  for (const result of ['accepted', 'refused']) webhooks.labels(result).inc(0)
  return {
    /** Adds the metrics of this process that Node has: memory, event loop, processor. */
    addProcess: () => collectDefaultMetrics({ register: registry }),
    /**
     * Counts an event. @param id what identifies the rollout or apply across restarts of a watch;
     * absent: the id of the last apply that started
     */
    recordEvent(event: ApplyEvent, id?: string): void {
      if (event.type === 'apply.started') current = event.apply
      if (event.type === 'wave.judged') recordVerdict(id ?? current, event.wave, event.verdict)
      if (event.type !== 'apply.finished') return
      for (const [outcome, count] of Object.entries(toLabels(event, event.open)))
        writes.labels(outcome).inc(count)
      for (const [outcome, count] of Object.entries(toLabels(event.parts, event.open)))
        parts.labels(outcome).inc(count)
    },
    /** Records a run. `status` is one of few words. */
    recordApply(kind: 'apply' | 'rollout' | 'drift' | 'plan', status: string, seconds: number) {
      runs.labels(kind, status).observe(seconds)
    },
    recordLockWait: (seconds: number) => waits.observe(seconds),
    setPlan(plan: Pick<Plan, 'changes' | 'writes'>): void {
      changes.reset()
      for (const action of ['set', 'change', 'unset', 'release']) changes.labels(action).set(0)
      for (const { action } of plan.changes) changes.labels(action).inc()
      planned.set(plan.writes.length)
    },
    setDrift(drift: Pick<Drift, 'items'>): void {
      drifts.reset()
      for (const { kinds, confidence } of drift.items)
        for (const kind of kinds) drifts.labels(kind, confidence).inc()
    },
    /** Replaces the ages of confirmations; `now` in seconds since 1970. */
    setConfirmations(recorded: RecordedState, now: number): void {
      age.reset()
      items.reset()
      const seconds = addItems(recorded, now, age, items)
      if (seconds === null) oldest.remove()
      else oldest.set(seconds)
    },
    setBudget(callsLeft: number, callsPerMinute: number): void {
      left.set(callsLeft)
      limit.set(callsPerMinute)
    },
    setRollouts(listed: ListedRollout[]): void {
      rollouts.reset()
      for (const { state } of listed) rollouts.labels(state).inc()
    },
    /** @param number of its term; null for a replica that does not lead */
    setLeader(number: number | null): void {
      leader.set(Number(number !== null))
      if (number === null) {
        term.remove()
        unattended.remove()
      } else term.set(number)
    },
    setBranch(facts: BranchFacts): void {
      commit.reset()
      if (facts.commit !== null) commit.labels(facts.commit).set(1)
      if (facts.appliedAt !== null) applied.set(facts.appliedAt)
      synced.set(Number(facts.inSync))
    },
    /** @param at time of a fetch of the branch, in seconds since 1970 */
    setFetched: (at: number) => fetched.set(at),
    setUnattended: (count: number) => unattended.set(count),
    countTakenUp: () => takenUp.inc(),
    setDatabase: (isReached: boolean) => database.set(Number(isReached)),
    setOutbox(facts: { pending: number; givenUp: number; oldestSeconds: number }): void {
      pending.set(facts.pending)
      givenUp.set(facts.givenUp)
      waiting.set(facts.oldestSeconds)
    },
    countInvalidCommit: () => invalid.inc(),
    countWebhook: (result: 'accepted' | 'refused') => webhooks.labels(result).inc(),
    countError: (code: ErrorCode | 'defect') => errors.labels(code).inc(),
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
