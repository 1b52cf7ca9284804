import { computeShare } from '../model/statistics.ts'
import type {
  Comparison,
  DomainCounts,
  HealthRule,
  Sample,
  Variation,
  WaveHealth,
} from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { createSampleCount, type CountSample } from './count-sample.ts'
import { learnExpectations } from './expected.ts'
import { computePValue, buildContingencyTable } from './hypergeometric.ts'
import { computeStratifiedPValue } from './stratified.ts'

type Measure = Pick<HealthRule, 'statuses' | 'minRequests' | 'margin'>

/**
 * Significance level: maximum probability that noise alone stops a wave. So noise stops a rollout
 * of four waves at most once in 250 times, which meets the goal of 1 in 200; and a rise of five
 * points on one of 200 domains with 1,000 requests is found in 99 of 100 cases.
 */
export const significance = 0.001
/** Maximum p-value of a final verdict, valid for any number of checks of a wave. */
export const clearSignificance = 1e-6
/** Significance level of a rise beyond the variation of the baseline, in all tests of a wave. */
export const variationSignificance = 3e-4
/** What disturbs many domains raises some of them so many times as much as the controls. */
const spread = 3
/** Number of windows that decide on an uncertain rise: longer than a gust. */
export const decidingWindows = 4
/** Maximum factor by which a window with too little data is extended. */
export const maxExtension = 12
/** Maximum p-value of a rise that a longer window may prove. */
export const maxUncertain = 0.5

/**
 * Compares the status codes of a wave before and after. A domain is worse if its rise is
 * significant (Fisher's exact test, one-sided, with Holm's correction for all tests) *and* the
 * share of bad answers rose by more than the margin. The wave as a whole is tested with domains as
 * strata (Mantel–Haenszel), so that traffic that moves between domains is no rise. The wave is
 * worse if it or any of its domains is worse. A domain with too little data is not tested and stops
 * nothing.
 *
 * These tests take requests as independent, but errors come in gusts. With `variation`, a rise also
 * has to be significant against it (negative binomial distribution, Bonferroni's correction). A
 * rise that is not clearly significant is uncertain.
 *
 * @param before counts of `computeWindows(…).before` by domain, for all domains of the wave, also
 * those without requests
 * @param after counts of `computeWindows(…).after`
 * @param share of the error rate that this look may spend
 */
export function judgeWave(
  before: DomainCounts,
  after: DomainCounts,
  measure: Measure,
  variation: Variation | null = null,
  share = 1,
): WaveHealth {
  const count = createSampleCount(measure.statuses)
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const domains = new Map(
    names.map((domain) => {
      const [earlier, later] = [count(before.get(domain) ?? {}), count(after.get(domain) ?? {})]
      return [domain, compareSamples(earlier, later, measure)]
    }),
  )
  const whole = compareWhole([...domains.values()], measure)
  const all = [whole, ...domains.values()]
  const risen = filterSignificant(all).filter(({ rise }) => rise > measure.margin)
  const tests = all.filter(({ pValue }) => pValue !== null).length
  if (variation !== null && risen.length > 0)
    addVariation(domains, whole, variation, measure, count)
  const limit = variation === null ? 1 : (share * variationSignificance) / tests
  for (const comparison of risen) if ((comparison.pValue ?? 1) < limit) comparison.verdict = 'worse'
  const worse = all.some(({ verdict }) => verdict === 'worse')
  const verdict = worse ? 'worse' : whole.verdict
  const isSuspect = risen.some(({ pValue }) => (pValue ?? 1) * tests < maxUncertain)
  const health = { verdict, domains, whole, isUncertain: false }
  return { ...health, isUncertain: variation !== null && isSuspect && !isClearlyWorse(health) }
}

/**
 * Returns whether a wave is worse beyond doubt, so that the rest of its window is not needed. One
 * of several domains may have a gust of its own, unless most of its requests fail.
 */
export function isClearlyWorse({ domains, whole }: WaveHealth): boolean {
  const limit = clearSignificance / (domains.size + 1)
  return [whole, ...domains.values()].some(
    (each) =>
      each.verdict === 'worse' &&
      (each.pValue ?? 1) < limit &&
      (each === whole || 2 * each.after.bad > each.after.requests),
  )
}

/** Raises the p-values of the tests to those under the variation of the baseline. */
function addVariation(
  domains: ReadonlyMap<Domain, Comparison>,
  whole: Comparison,
  variation: Variation,
  { margin }: Measure,
  count: CountSample,
): void {
  const expectations = learnExpectations(variation, count)
  const disturbance = expectations.findDisturbance(margin)
  const raise = (comparison: Comparison, pValue: number | null) => {
    if (comparison.pValue === null) return
    const usual = comparison.rise > spread * disturbance ? (pValue ?? 0) : 1
    comparison.pValue = Math.max(comparison.pValue, usual)
  }
  for (const [domain, comparison] of domains)
    raise(comparison, expectations.test(domain, comparison.after))
  const after = new Map([...domains].map(([domain, comparison]) => [domain, comparison.after]))
  raise(whole, expectations.testTogether(after))
}

function compareSamples(before: Sample, after: Sample, measure: Measure): Comparison {
  const isEnough = hasEnough(before, after, measure)
  return {
    verdict: isEnough ? 'same-or-better' : 'too-little-data',
    before,
    after,
    rise:
      100 * (computeShare(after.bad, after.requests) - computeShare(before.bad, before.requests)),
    pValue: isEnough ? computePValue(buildContingencyTable(before, after), after.bad) : null,
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
  const isEnough = hasEnough(
    sumSamples(pairs.map((each) => each.before)),
    sumSamples(pairs.map((each) => each.after)),
    measure,
  )
  const strata = pairs.map((each) => buildContingencyTable(each.before, each.after))
  const bad = pairs.reduce((sum, each) => sum + each.after.bad, 0)
  return {
    verdict: isEnough ? 'same-or-better' : 'too-little-data',
    before,
    after,
    rise: computeCommonRise(pairs),
    pValue: isEnough ? computeStratifiedPValue(strata, bad) : null,
  }
}

/** Tests whether both windows have enough requests; one without any can't be compared. */
function hasEnough(before: Sample, after: Sample, { minRequests }: Measure): boolean {
  return Math.min(before.requests, after.requests) >= Math.max(1, minRequests)
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
