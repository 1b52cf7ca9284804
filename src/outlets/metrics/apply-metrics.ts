import { Registry } from 'prom-client'
import type { ApplyEvent } from '../../core/model/events.ts'
import { selectDefinite, type Plan } from '../../core/model/plan.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { createInstruments, type Instruments } from './instruments.ts'
import { addActions, addCounts, addItems, createItemMetrics, toLabels } from './items.ts'

/** States of an apply: while it runs, after an error, and as it ended. */
export const states = [
  'running',
  'failed',
  'done',
  'incomplete',
  'unrecorded',
  'unshared',
  'unverified',
  'approval',
  'paused',
  'pausing',
] as const

/** Known facts about an apply; null where it is unknown yet, or was never known. */
export interface ApplyFacts {
  /** Id of the workspace, and name of the account. */
  workspace: string
  account: string
  state: (typeof states)[number]
  /** Start and end, seconds since 1970. */
  startedAt: number
  endedAt: number | null
  /** Time by a clock that is never set, seconds. */
  duration: number
  lockWait: number | null
  plan: Plan | null
  /** Events of the apply so far. */
  events: ApplyEvent[]
  /** Calls that the budget allowed at the last event. */
  callsLeft: number | null
  /** Recorded state after the apply. */
  recorded: RecordedState | null
}

/**
 * Formats metrics of an apply for a text-file collector, in the text format of Prometheus. A metric
 * whose value is unknown is left out.
 */
export async function formatApplyMetrics(facts: ApplyFacts): Promise<string> {
  const registry = new Registry()
  registry.setDefaultLabels({ workspace: facts.workspace, account: facts.account })
  const instruments = createInstruments(registry)
  const { gauge } = instruments
  const set = (name: string, help: string, value: number | null) => {
    if (value !== null) gauge(name, help).set(value)
  }
  const isIn = Object.fromEntries(states.map((each) => [each, Number(each === facts.state)]))
  addCounts(
    gauge('apply_state', 'State of the last apply: 1 for the one that it is in.', ['state']),
    isIn,
  )
  set('apply_start_time_seconds', 'Start of the last apply, Unix time.', facts.startedAt)
  set('apply_end_time_seconds', 'End of the last apply, Unix time.', facts.endedAt)
  set('apply_duration_seconds', 'Time that the last apply took so far.', facts.duration)
  set('apply_lock_wait_seconds', 'Time that the last apply waited for its lock.', facts.lockWait)
  set('budget_calls_left', 'Calls that the call budget allowed at once.', facts.callsLeft)
  if (facts.plan !== null) {
    const changes = gauge('plan_changes', 'Changes of the plan of the last apply.', ['action'])
    addActions(changes, selectDefinite(facts.plan).changes)
  }
  addOutcomes(facts.events, instruments)
  const now = facts.startedAt + facts.duration
  if (facts.recorded !== null) addItems(facts.recorded, now, createItemMetrics(instruments))
  return registry.metrics()
}

function addOutcomes(events: ApplyEvent[], { gauge }: Instruments): void {
  const verdicts: Record<string, number> = {}
  for (const event of events) {
    if (event.type === 'wave.judged') verdicts[event.verdict] = (verdicts[event.verdict] ?? 0) + 1
    if (event.type !== 'apply.finished') continue
    const { open, parts } = event
    const writes = gauge('apply_writes', 'Writes of the last apply by outcome.', ['outcome'])
    addCounts(writes, toLabels(event, open))
    const counted = gauge('apply_parts', 'Items of domains in these writes.', ['outcome'])
    addCounts(counted, toLabels(parts, open))
  }
  if (Object.keys(verdicts).length > 0)
    addCounts(
      gauge('apply_wave_verdicts', 'Verdicts of health checks of waves.', ['verdict']),
      verdicts,
    )
}
