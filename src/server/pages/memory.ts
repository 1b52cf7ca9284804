import type { DriftListener } from '../leader/compare-drift.ts'
import { formatCheck } from '../../operations/observation/earlier-reads.ts'
import type { Drift } from '../../core/model/drift.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import { createPageAbout } from '../../operations/history/page-about.ts'
import type { EventListener } from '../../operations/runtime/ports.ts'
import type { RolloutEvent } from '../../outlets/report/apply/rollout-text.ts'
import { buildDriftPage } from '../../outlets/report/page/build-drift-page.ts'
import { formatPage, formatServed, navPlace } from '../../outlets/report/page/format-page.ts'
import type { BuiltPage } from './built-page.ts'

/** Creates the memory of the last drift check of this process: its page, and what it has found. */
export function createDriftMemory(outside: Pick<Outside, 'clock'>) {
  let last: BuiltPage | null = null
  let check: { drift: Drift; atMs: number } | null = null
  const keep: DriftListener = async (workspace, found) => {
    const nowMs = outside.clock.now()
    const { commit } = await workspace.findTree()
    const about = createPageAbout(
      workspace,
      outside,
      { target: [], items: [], commit },
      found.notes,
    )
    const at = new Date(nowMs).toISOString()
    const page = formatPage(buildDriftPage(found, nowMs, about), navPlace)
    last = { format: (nav) => formatServed(page, nav), at, commit, revision: at }
    check = { drift: found.drift, atMs: nowMs }
  }
  return {
    keep,
    getLast: (): BuiltPage | null => last,
    /** Formats what it has found, for the process that makes pages. */
    formatCheck: (): string | null =>
      check === null ? null : formatCheck(check.drift, check.atMs),
  }
}

/** Rollouts whose events are kept, events of each, and domains that an event names. */
const [maxRollouts, maxEvents, maxWorse] = [50, 300, 50]

/** Creates the memory of the last events of waves, for the pages of rollouts. */
export function createEventMemory() {
  const byRollout = new Map<string, RolloutEvent[]>()
  const keep = (id: string, event: RolloutEvent): void => {
    const events = byRollout.get(id) ?? []
    // The rollouts that were used last are at the end.
    byRollout.delete(id)
    byRollout.set(id, [...events, cut(event)].slice(-maxEvents))
    for (const oldest of [...byRollout.keys()].slice(0, -maxRollouts)) byRollout.delete(oldest)
  }
  let rollout = ''
  /** Keeps the events of waves. */
  const listen: EventListener = (event) => {
    // All applies of a rollout begin with its id.
    if (event.type === 'apply.started') rollout = event.apply
    if (isWaveEvent(event)) keep(rollout, event)
  }
  /** Lists the events of a rollout, first to last. */
  const list = (id: string): RolloutEvent[] => byRollout.get(id) ?? []
  return { listen, list }
}

function isWaveEvent(event: ApplyEvent): event is RolloutEvent {
  const { type } = event
  return (
    type === 'wave.waiting' ||
    type === 'wave.watched' ||
    type === 'wave.judged' ||
    type === 'rollout.taking-back'
  )
}

function cut(event: RolloutEvent): RolloutEvent {
  return event.type === 'wave.judged' ? { ...event, worse: event.worse.slice(0, maxWorse) } : event
}
