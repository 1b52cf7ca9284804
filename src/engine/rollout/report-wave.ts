import { computePeriodsPerPoint } from '../../core/health/curve.ts'
import type { HealthConfig } from '../../core/model/config.ts'
import type { WaveStatistics } from '../../core/model/events.ts'
import type { WaveHealth, Window, Comparison, HealthRule, Sample } from '../../core/model/health.ts'
import type { Rollout, AppliedTimes } from '../../core/model/rollout.ts'
import { grainMs } from '../../core/model/statistics.ts'
import { failSpan, getSpan } from '../../core/model/telemetry.ts'
import type { ComparedWave } from './baseline-start.ts'
import type { RolloutContext } from './ports.ts'
import { formatCount, pluralize } from '../../core/model/text/words.ts'

type Reporting = Pick<RolloutContext, 'clock' | 'report'>

/** Reports the statistics of a wave so far. */
export function reportWatched(
  waveIndex: number,
  { whole }: WaveHealth,
  { statuses }: HealthConfig,
  { report }: Reporting,
): void {
  report({
    type: 'wave.watched',
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
  { report }: Reporting,
): void {
  const { verdict, whole, domains } = health
  getSpan()?.setAttributes({ 'edgewise.verdict': verdict })
  if (verdict === 'worse') failSpan(getSpan(), verdict)
  report({
    type: 'wave.judged',
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

/** Explains why a longer window has to decide. */
export function explainUncertain(
  { whole }: WaveHealth,
  { statuses, window }: HealthRule,
  windows: number,
): string {
  const minutes = Math.round((windows * window) / 60)
  return (
    `${statuses.join(', ')} rose from ${formatChange(whole)}, or more on single domains, which ` +
    `may be a gust; a window of ${minutes} min decides`
  )
}

/**
 * Explains a verdict; null for a healthy wave.
 *
 * @param distrusted times of a wave that was judged by this machine's clock, otherwise null
 */
export function explain(
  health: WaveHealth,
  rule: HealthRule,
  distrusted: AppliedTimes | null,
): string | null {
  const { verdict } = health
  if (verdict === 'worse') return explainWorse(health, rule)
  if (distrusted !== null)
    return `${explainUnknownTime(distrusted)}, and this machine's clock alone does not pass a wave`
  return verdict === 'too-little-data' ? explainTooLittleData(health, rule) : null
}

function explainUnknownTime({ serviceFrom }: AppliedTimes): string {
  return serviceFrom === null
    ? "the time of the wave by the service's clock is unknown (its answers had no Date)"
    : "the service's answers have no Date"
}

/**
 * Explains why a wave is worse. `5xx rose on 2 of 10 domains: a.example.com from 0.1 % to 9.0 %, …`
 */
function explainWorse(
  { domains, whole }: WaveHealth,
  { statuses, margin }: Pick<HealthRule, 'statuses' | 'margin'>,
): string {
  const worse = [...domains]
    .filter(([, each]) => each.verdict === 'worse')
    .toSorted(([, a], [, b]) => b.rise - a.rise)
  const what = statuses.join(', ')
  if (worse.length === 0)
    return `${what} rose from ${formatChange(whole)} over all domains, more than ${margin} points`
  const named = worse.slice(0, 3).map(([domain, each]) => `${domain} from ${formatChange(each)}`)
  const where = `${worse.length} of ${pluralize(domains.size, 'domain')}`
  const more =
    worse.length > named.length ? ` and ${formatCount(worse.length - named.length)} more` : ''
  return `${what} rose on ${where}: ${named.join(', ')}${more}`
}

function explainTooLittleData(
  { whole }: WaveHealth,
  { minRequests }: Pick<HealthRule, 'minRequests'>,
): string {
  const { before, after } = whole
  return (
    `too little data: ${before.requests} requests before and ${after.requests} after, ` +
    `and health.minRequests requires ${minRequests} in both`
  )
}

function formatChange({ before, after }: Comparison): string {
  return `${formatPercent(before)} to ${formatPercent(after)}`
}

function formatPercent({ requests, bad }: Sample): string {
  return requests === 0 ? 'none' : `${((100 * bad) / requests).toFixed(1)} %`
}
