import type { Comparison, HealthRule, Sample, WaveHealth } from '../model/health.ts'
import { pluralize } from '../model/words.ts'

/** Chances this small are no chance, however often anybody looks. */
const beyondDoubt = 1e-6

/** Whether a wave is worse beyond doubt, so that nobody has to wait for the rest of the window. */
export function isClearlyWorse({ verdict, domains, whole }: WaveHealth): boolean {
  const tests = domains.size + 1
  return (
    verdict === 'worse' &&
    [whole, ...domains.values()].some(
      (each) => each.verdict === 'worse' && (each.pValue ?? 1) < beyondDoubt / tests,
    )
  )
}

/** `5xx rose from 0.2 % to 11.3 % on 2 of 10 domains: a.example.com (0.1 % to 9.0 %), …`. */
export function explainWorse(
  { domains, whole }: WaveHealth,
  { statuses, margin }: Pick<HealthRule, 'statuses' | 'margin'>,
): string {
  const worse = [...domains]
    .filter(([, each]) => each.verdict === 'worse')
    .toSorted(([, a], [, b]) => b.rise - a.rise)
  const what = statuses.join(', ')
  if (worse.length === 0)
    return `${what} rose from ${movement(whole)} over all domains, more than ${margin} points`
  const named = worse.slice(0, 3).map(([domain, each]) => `${domain} from ${movement(each)}`)
  const more = worse.length > named.length ? ` and ${worse.length - named.length} more` : ''
  return `${what} rose on ${worse.length} of ${pluralize(domains.size, 'domain')}: ${named.join(', ')}${more}`
}

/** Why nobody can say whether a wave is healthy; null where one can. */
export function explainTooLittleData(
  { verdict, whole }: WaveHealth,
  { minRequests }: Pick<HealthRule, 'minRequests'>,
): string | null {
  if (verdict !== 'too-little-data') return null
  const { before, after } = whole
  return `too little data: ${before.requests} requests before and ${after.requests} after, and health.minRequests asks for ${minRequests} in both`
}

function movement({ before, after }: Comparison): string {
  return `${percent(before)} to ${percent(after)}`
}

function percent({ requests, bad }: Sample): string {
  return requests === 0 ? 'none' : `${((100 * bad) / requests).toFixed(1)} %`
}
