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
 * Significance level: maximum probability that noise alone stops a wave. So noise stops a rollout
 * of four waves at most once in 250 times, which meets the goal of 1 in 200; and a rise of five
 * points on one of 200 domains with 1,000 requests is found in 99 of 100 cases.
 */
export const significance = 0.001

/**
 * Compares the status codes of a wave before and after. A domain is worse if its rise is
 * significant (Fisher's exact test, one-sided, with Holm's correction for all tests) *and* the
 * share of bad answers rose by more than the margin. The wave as a whole is tested with domains as
 * strata (Mantel–Haenszel), so that traffic that moves between domains is no rise. The wave is
 * worse if it or any of its domains is worse. A domain with too little data is not tested and stops
 * nothing.
 *
 * @param before counts of `computeWindows(…).before` by domain, for all domains of the wave, also
 * those without requests
 * @param after counts of `computeWindows(…).after`
 */
export function judgeWave(before: DomainCounts, after: DomainCounts, measure: Measure): WaveHealth {
  const isBad = createBadnessTest(measure.statuses)
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const domains = new Map(
    names.map((domain) => [domain, compareDomain(domain, before, after, isBad, measure)]),
  )
  const whole = compareWhole([...domains.values()], measure)
  for (const comparison of filterSignificant([...domains.values(), whole])) {
    if (comparison.rise > measure.margin) comparison.verdict = 'worse'
  }
  const worse = [whole, ...domains.values()].some(({ verdict }) => verdict === 'worse')
  return { verdict: worse ? 'worse' : whole.verdict, domains, whole }
}

/** Creates a test for bad status codes; `5xx` stands for 500 to 599. */
function createBadnessTest(statuses: string[]): (status: string) => boolean {
  const codes = new Set(statuses.map((status) => status.toLowerCase()))
  return (status) => codes.has(status) || (status.length === 3 && codes.has(`${status[0]}xx`))
}

function compareDomain(
  domain: Domain,
  before: DomainCounts,
  after: DomainCounts,
  isBad: (status: string) => boolean,
  measure: Measure,
): Comparison {
  const [earlier, later] = [before, after].map((counts) =>
    countSample(counts.get(domain) ?? {}, isBad),
  ) as [Sample, Sample]
  const shortage = findShortage(earlier, later, measure)
  return {
    verdict: chooseVerdict(shortage),
    before: earlier,
    after: later,
    rise: 100 * (computeBadShare(later) - computeBadShare(earlier)),
    pValue:
      shortage === null ? computePValue(buildContingencyTable(earlier, later), later.bad) : null,
    shortage,
  }
}

/**
 * Compares the wave as a whole. Domains with too few requests for a separate test count here;
 * one without requests in a window can't be compared.
 */
function compareWhole(domains: Comparison[], measure: Measure): Comparison {
  const [before, after] = [
    domains.map((each) => each.before),
    domains.map((each) => each.after),
  ].map(sumSamples) as [Sample, Sample]
  const pairs = domains.filter((each) => each.before.requests > 0 && each.after.requests > 0)
  const lack = findShortage(
    sumSamples(pairs.map((each) => each.before)),
    sumSamples(pairs.map((each) => each.after)),
    measure,
  )
  const strata = pairs.map((each) => buildContingencyTable(each.before, each.after))
  const bad = pairs.reduce((sum, each) => sum + each.after.bad, 0)
  return {
    verdict: chooseVerdict(lack),
    before,
    after,
    rise: computeCommonRise(pairs),
    pValue: lack === null ? computeStratifiedPValue(strata, bad) : null,
    shortage: lack === null ? null : (findShortage(before, after, measure) ?? lack),
  }
}

function chooseVerdict(lack: DataShortage): Verdict {
  return lack === null ? 'same-or-better' : 'too-little-data'
}

function countSample(counts: Counts, isBad: (status: string) => boolean): Sample {
  const bad = Object.entries(counts).reduce(
    (sum, [status, count]) => (isBad(status) ? sum + count : sum),
    0,
  )
  return { requests: sumRequests(counts), bad }
}

function findShortage(before: Sample, after: Sample, { minRequests }: Measure): DataShortage {
  if (before.requests === 0 && after.requests === 0) return 'no requests'
  if (after.requests === 0) return 'no requests after'
  if (before.requests === 0) return 'no requests before'
  return Math.min(before.requests, after.requests) < minRequests ? 'few requests' : null
}

function computeBadShare({ requests, bad }: Sample): number {
  return requests === 0 ? 0 : bad / requests
}

function sumSamples(samples: Sample[]): Sample {
  return samples.reduce(
    (sum, { requests, bad }) => ({ requests: sum.requests + requests, bad: sum.bad + bad }),
    { requests: 0, bad: 0 },
  )
}

/** Computes the common rise of the domains in percentage points, by Mantel–Haenszel weights. */
function computeCommonRise(pairs: Comparison[]): number {
  let [sum, weights] = [0, 0]
  for (const { before, after, rise } of pairs) {
    const weight = (before.requests * after.requests) / (before.requests + after.requests)
    sum += weight * rise
    weights += weight
  }
  return weights === 0 ? 0 : sum / weights
}

/** Filters the significant comparisons, with Holm's correction for multiple tests. */
function filterSignificant(comparisons: Comparison[]): Comparison[] {
  const tested = comparisons
    .filter(({ pValue }) => pValue !== null)
    .toSorted((a, b) => (a.pValue ?? 1) - (b.pValue ?? 1))
  const end = tested.findIndex(
    ({ pValue }, i) => (pValue ?? 1) > significance / (tested.length - i),
  )
  return end === -1 ? tested : tested.slice(0, end)
}
