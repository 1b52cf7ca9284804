import type { Comparison, HealthRule, Sample, WaveHealth } from '../model/health.ts'
import type { AppliedTimes } from '../model/rollout.ts'
import { pluralize } from '../model/words.ts'

/** Maximum p-value of a final verdict, valid for any number of checks of a wave. */
const maxPValue = 1e-6

/** Returns whether a wave is worse beyond doubt, so that the rest of its window is not needed. */
export function isClearlyWorse({ verdict, domains, whole }: WaveHealth): boolean {
  const tests = domains.size + 1
  return (
    verdict === 'worse' &&
    [whole, ...domains.values()].some(
      (each) => each.verdict === 'worse' && (each.pValue ?? 1) < maxPValue / tests,
    )
  )
}

/** Returns a verdict that rests on this machine's clock: it may stop a wave, never pass it. */
export function distrust(health: WaveHealth): WaveHealth {
  return health.verdict === 'same-or-better' ? { ...health, verdict: 'too-little-data' } : health
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
