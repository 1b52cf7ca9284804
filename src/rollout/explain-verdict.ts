import type { Comparison, HealthRule, Sample, WaveHealth } from '../model/health.ts'
import type { AppliedTimes } from '../model/rollout.ts'
import { pluralize } from '../model/words.ts'

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
  if (health.verdict === 'worse') return explainWorse(health, rule)
  return distrusted === null
    ? explainTooLittleData(health, rule)
    : `${explainUnknownTime(distrusted)}, and this machine's clock alone does not pass a wave`
}

function explainUnknownTime({ serviceFrom }: AppliedTimes): string {
  return serviceFrom === null
    ? "the time of the wave by the service's clock is unknown (its answers had no Date, or an " +
        'earlier version of Edgewise sent the wave)'
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
  const more = worse.length > named.length ? ` and ${worse.length - named.length} more` : ''
  return `${what} rose on ${where}: ${named.join(', ')}${more}`
}

/** Explains a lack of data; null if there is enough. */
function explainTooLittleData(
  { verdict, whole }: WaveHealth,
  { minRequests }: Pick<HealthRule, 'minRequests'>,
): string | null {
  if (verdict !== 'too-little-data') return null
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
