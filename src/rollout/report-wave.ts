import { computePeriodsPerPoint } from '../health/curve.ts'
import type { HealthConfig } from '../model/config.ts'
import type { WaveStatistics } from '../model/events.ts'
import type { WaveHealth, Window } from '../model/health.ts'
import type { Rollout } from '../model/rollout.ts'
import { grainMs } from '../model/statistics.ts'
import type { ComparedWave } from './compare-wave.ts'
import type { RolloutContext } from './ports.ts'

type Reporting = Pick<RolloutContext, 'clock' | 'report' | 'tracer'>

/** Reports the statistics of a wave so far. */
export function reportWatched(
  waveIndex: number,
  { whole }: WaveHealth,
  { statuses }: HealthConfig,
  { clock, report }: Reporting,
): void {
  report({
    type: 'wave.watched',
    time: formatTime(clock.now()),
    wave: waveIndex + 1,
    statuses,
    before: whole.before,
    after: whole.after,
  })
}

/** Reports that a wave waits for a time, ms. */
export function reportWaiting(
  { waves }: Rollout,
  waveIndex: number,
  ms: number,
  reason: 'pause' | 'health' | 'baseline',
  { clock, report }: Reporting,
): void {
  const domains = waves[waveIndex]?.domains.length ?? 0
  report({
    type: 'wave.waiting',
    time: formatTime(clock.now()),
    wave: waveIndex + 1,
    waves: waves.length,
    domains,
    until: formatTime(clock.now() + ms),
    reason,
  })
}

/** Reports the verdict of a wave with the statistics that it rests on. */
export function reportJudged(
  waveIndex: number,
  health: ComparedWave,
  reason: string | null,
  about: { rule: HealthConfig; written: Window },
  { clock, report, tracer }: Reporting,
): void {
  const { verdict, whole, domains } = health
  tracer?.current().set({ 'edgewise.verdict': verdict })
  if (verdict === 'worse') tracer?.current().fail(verdict)
  report({
    type: 'wave.judged',
    time: formatTime(clock.now()),
    wave: waveIndex + 1,
    verdict,
    reason,
    before: whole.before,
    after: whole.after,
    worse: [...domains].flatMap(([domain, each]) =>
      verdict === 'worse' && each.verdict === 'worse'
        ? [{ domain, before: each.before, after: each.after }]
        : [],
    ),
    statistics: describeStatistics(health, about),
  })
}

function describeStatistics(
  { before, after }: ComparedWave,
  { rule, written }: { rule: HealthConfig; written: Window },
): WaveStatistics {
  const { statuses, margin, minRequests, grain } = rule
  const span = ({ from, to }: Window) => ({ from: formatTime(from), to: formatTime(to) })
  return {
    statuses,
    margin,
    minRequests,
    written: span(written),
    before: span(before.window),
    after: span(after.window),
    seconds: (computePeriodsPerPoint(before.window, grain) * grainMs[grain]) / 1000,
    points: [...before.curve, ...after.curve].map(({ time, ...counts }) => ({
      time: formatTime(time),
      ...counts,
    })),
  }
}

function formatTime(time: number): string {
  return new Date(time).toISOString()
}
