import type {
  Comparison,
  DomainCounts,
  HealthRule,
  DataShortage,
  Sample,
  Verdict,
  WaveHealth,
} from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { sumRequests, type Counts } from '../model/statistics.ts'
import { computePValue, buildContingencyTable } from './hypergeometric.ts'
import { computeStratifiedPValue } from './stratified.ts'

type Measure = Pick<HealthRule, 'statuses' | 'minRequests' | 'margin'>

/**
 * How likely noise alone may stop a wave. A rollout of four waves is then stopped by it once in 250
 * times at most, where 1 in 200 is what people put up with; and a rise of five points on one of 200
 * domains with 1,000 requests is still found in 99 of 100 cases.
 */
export const significance = 0.001

/**
 * Compares the status codes of a wave before and after. A domain is worse when a rise as large as
 * seen would hardly come by chance (Fisher's exact test, one-sided; corrected by Holm for all that
 * is tested) *and* the share of bad answers rose by more than the margin. The wave as a whole is
 * tested by domain (Mantel–Haenszel), so that traffic that moves between domains is no rise. The
 * wave is worse when it or any of its domains is; a domain with too little data is not tested and
 * stops nothing.
 *
 * @param before counts of `windowsOf(…).before` by domain; all domains of the wave, also those
 * without requests
 * @param after counts of `windowsOf(…).after`
 */
export function judgeWave(before: DomainCounts, after: DomainCounts, measure: Measure): WaveHealth {
  const isBad = badness(measure.statuses)
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const domains = new Map(
    names.map((domain) => [domain, compared(domain, before, after, isBad, measure)]),
  )
  const whole = comparedTogether([...domains.values()], measure)
  for (const comparison of significantly([...domains.values(), whole])) {
    if (comparison.rise > measure.margin) comparison.verdict = 'worse'
  }
  const worse = [whole, ...domains.values()].some(({ verdict }) => verdict === 'worse')
  return { verdict: worse ? 'worse' : whole.verdict, domains, whole }
}

/** Which status codes are bad: `5xx` stands for 500 to 599. */
function badness(statuses: string[]): (status: string) => boolean {
  const codes = new Set(statuses.map((status) => status.toLowerCase()))
  return (status) => codes.has(status) || (status.length === 3 && codes.has(`${status[0]}xx`))
}

function compared(
  domain: Domain,
  before: DomainCounts,
  after: DomainCounts,
  isBad: (status: string) => boolean,
  measure: Measure,
): Comparison {
  const [earlier, later] = [before, after].map((counts) =>
    sampleOf(counts.get(domain) ?? {}, isBad),
  ) as [Sample, Sample]
  const shortage = lackOf(earlier, later, measure)
  return {
    verdict: verdictOf(shortage),
    before: earlier,
    after: later,
    rise: 100 * (shareOf(later) - shareOf(earlier)),
    pValue:
      shortage === null ? computePValue(buildContingencyTable(earlier, later), later.bad) : null,
    shortage,
  }
}

/**
 * Domains too quiet to be tested alone count here; one that had no requests in a window has nothing
 * to be compared with.
 */
function comparedTogether(domains: Comparison[], measure: Measure): Comparison {
  const [before, after] = [
    domains.map((each) => each.before),
    domains.map((each) => each.after),
  ].map(added) as [Sample, Sample]
  const pairs = domains.filter((each) => each.before.requests > 0 && each.after.requests > 0)
  const lack = lackOf(
    added(pairs.map((each) => each.before)),
    added(pairs.map((each) => each.after)),
    measure,
  )
  const strata = pairs.map((each) => buildContingencyTable(each.before, each.after))
  const bad = pairs.reduce((sum, each) => sum + each.after.bad, 0)
  return {
    verdict: verdictOf(lack),
    before,
    after,
    rise: commonRise(pairs),
    pValue: lack === null ? computeStratifiedPValue(strata, bad) : null,
    shortage: lack === null ? null : (lackOf(before, after, measure) ?? lack),
  }
}

function verdictOf(lack: DataShortage): Verdict {
  return lack === null ? 'same-or-better' : 'too-little-data'
}

function sampleOf(counts: Counts, isBad: (status: string) => boolean): Sample {
  const bad = Object.entries(counts).reduce(
    (sum, [status, count]) => (isBad(status) ? sum + count : sum),
    0,
  )
  return { requests: sumRequests(counts), bad }
}

function lackOf(before: Sample, after: Sample, { minRequests }: Measure): DataShortage {
  if (before.requests === 0 && after.requests === 0) return 'no requests'
  if (after.requests === 0) return 'no requests after'
  if (before.requests === 0) return 'no requests before'
  return Math.min(before.requests, after.requests) < minRequests ? 'few requests' : null
}

function shareOf({ requests, bad }: Sample): number {
  return requests === 0 ? 0 : bad / requests
}

function added(samples: Sample[]): Sample {
  return samples.reduce(
    (sum, { requests, bad }) => ({ requests: sum.requests + requests, bad: sum.bad + bad }),
    { requests: 0, bad: 0 },
  )
}

/**
 * The rise that the domains have in common, in percent points: each weighs as much as its two
 * windows can tell (Mantel–Haenszel).
 */
function commonRise(pairs: Comparison[]): number {
  let [sum, weights] = [0, 0]
  for (const { before, after, rise } of pairs) {
    const weight = (before.requests * after.requests) / (before.requests + after.requests)
    sum += weight * rise
    weights += weight
  }
  return weights === 0 ? 0 : sum / weights
}

/** Those of many comparisons whose rise is no chance, although there are many (Holm). */
function significantly(comparisons: Comparison[]): Comparison[] {
  const tested = comparisons
    .filter(({ pValue }) => pValue !== null)
    .toSorted((a, b) => (a.pValue ?? 1) - (b.pValue ?? 1))
  const end = tested.findIndex(
    ({ pValue }, i) => (pValue ?? 1) > significance / (tested.length - i),
  )
  return end === -1 ? tested : tested.slice(0, end)
}
