import type { ApplyEvent } from '../../core/model/events.ts'
import { durations, type Instruments } from './instruments.ts'
import { addCounts, toLabels } from './items.ts'

/** Verdicts that are remembered, so that a resumed watch does not count one again. */
const maxVerdicts = 1000

/** Creates the metrics of what runs do: their writes, durations, waits and calls. */
export function createRunMetrics({ counter, histogram, unknown }: Instruments) {
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
