import type { HealthRule } from '../model/health.ts'
import type { ForeseenWave } from '../model/plan.ts'
import type { DomainTraffic } from '../model/traffic.ts'
import { buildContingencyTable, computePValue } from './hypergeometric.ts'
import {
  clearSignificance,
  decidingWindows,
  maxUncertain,
  significance,
  variationSignificance,
} from './judge.ts'
import { computeNegativeBinomialTail } from './negative-binomial.ts'
import { computeLength } from './windows.ts'

/** Sums of the figures of some domains. */
export interface TrafficSum {
  domains: number
  /** Requests of the day, and the bad ones. */
  requests: number
  bad: number
  /** Requests of a day of which each hour is a quiet one. */
  quiet: number
  /** Bad answers of each domain times the variation of their share. */
  varied: number
}

/** Foresees what the health check of a wave finds. */
export interface Detector {
  /** Adds the figures of a domain to a sum. */
  add(sum: TrafficSum, traffic: DomainTraffic): TrafficSum
  /** Returns whether a rise on all domains is found, percentage points. */
  detects(sum: TrafficSum, rise: number): boolean
  /** Finds the least rise that is found, or the reason why none is. */
  foresee(sum: TrafficSum): Pick<ForeseenWave, 'detects' | 'undetected'>
}

export const emptySum: TrafficSum = { domains: 0, requests: 0, bad: 0, quiet: 0, varied: 0 }

/** Share of the average that the quietest hour is assumed to have, if hours were not counted. */
const quietShare = 0.2
/** Share of the requests of a usual hour that the same hour of a weekend is assumed to have. */
const weekendShare = 0.6
/** Variation that is assumed if hours were not counted, and at least if they were. */
const assumedVariation = 1
const minVariation = 0.7
/** Bad answers of a day from which a domain counts fully for the variation of all: ten an hour. */
const fullWeight = 240
/** A smaller rise beyond the margin is hidden by a slight gust before the change. */
const minRatio = 1.5

/** So many times the requests are many. */
const manyTimes = 1e4

/** Rises that are tried, percentage points: those of two digits. */
const rises = [0.01, 0.1, 1].flatMap((unit) =>
  Array.from({ length: 90 }, (_, i) => Number(((10 + i) * unit).toFixed(2))),
)

/**
 * Creates the foresight of a health check from the figures of a day. It is careful: the wave may be
 * written at a quiet hour of a weekend, a gust of errors may precede it, and another one may have
 * raised the expected share. So it takes the smallest windows and unlikely counts, and asks the
 * tests of the health check whether they find the rise: at once, or by the longer window.
 *
 * @param figures of all domains whose variation is known
 */
export function createDetector(
  figures: Iterable<DomainTraffic>,
  rule: Pick<HealthRule, 'window' | 'grain' | 'minRequests' | 'margin'>,
): Detector {
  const pooled = poolVariation(figures)
  const seconds = computeLength(rule) / 1000
  const isFound = (sum: TrafficSum, rise: number, windows: number, level: number) =>
    isRiseFound(sum, rise, { seconds: seconds * windows, ...rule, level })
  const isClear = (sum: TrafficSum, rise: number) => isFound(sum, rise, 1, clearSignificance)
  const detects = (sum: TrafficSum, rise: number) =>
    rise >= minRatio * rule.margin &&
    (isClear(sum, rise) ||
      (isFound(sum, rise, 1, maxUncertain) &&
        isFound(sum, rise, decidingWindows, variationSignificance)))
  return {
    add: (sum, { requests, bad, low = quietShare * requests, variation = assumedVariation }) => ({
      domains: sum.domains + 1,
      requests: sum.requests + requests,
      bad: sum.bad + bad,
      quiet: sum.quiet + weekendShare * low,
      varied: sum.varied + bad * Math.max(minVariation, pooled, variation),
    }),
    detects,
    foresee: (sum) => {
      const rise = rises.find((each) => detects(sum, each))
      if (rise !== undefined)
        return {
          detects: { rise, seconds: isClear(sum, rise) ? seconds : seconds * decidingWindows },
        }
      const many = { ...sum, quiet: sum.quiet * manyTimes }
      const isFew = rises.some((each) => detects(many, each))
      return { undetected: isFew ? 'few-requests' : 'many-errors' }
    },
  }
}

/** Pools the variation of domains; those with few bad answers weigh less. */
function poolVariation(figures: Iterable<DomainTraffic>): number {
  let [sum, weights] = [0, 0]
  for (const { bad, variation } of figures) {
    if (variation === undefined) continue
    const weight = Math.min(1, bad / fullWeight)
    sum += weight * variation ** 2
    weights += weight
  }
  return weights === 0 ? 0 : Math.sqrt(sum / weights)
}

/** Probability that a count of a window is beyond the one that is taken, and its deviations. */
const unlikely = { probability: 0.005, deviations: 2.58 }
/** Windows below an hour vary more than hours: a gust fills them. */
const maxShorter = 4

/** Returns whether the tests of a window find a rise, at a level of the variation's test. */
function isRiseFound(
  { domains, requests: daily, bad, quiet, varied }: TrafficSum,
  rise: number,
  {
    seconds,
    minRequests,
    margin,
    level,
  }: Pick<HealthRule, 'minRequests' | 'margin'> & {
    seconds: number
    level: number
  },
): boolean {
  const requests = Math.floor((quiet * seconds) / 86_400)
  if (requests < Math.max(1, minRequests)) return false
  const variation = bad === 0 ? assumedVariation : varied / bad
  const shorter = Math.min(maxShorter, Math.max(1, 3600 / seconds))
  const dispersion = variation ** 2 * Math.sqrt(shorter)
  const usual = (requests * (bad + 1)) / daily
  // Between gusts, the usual share is lower than the mean.
  const mean = usual / 2 + (requests * rise) / 100
  const after = Math.floor(mean - unlikely.deviations * Math.sqrt(mean))
  // Most sums fail here, before the costly quantile.
  if ((100 * (after - usual)) / requests <= margin) return false
  const before = Math.min(requests, findUpperQuantile(usual, dispersion))
  if ((100 * (after - before)) / requests <= margin) return false
  const table = buildContingencyTable({ requests, bad: before }, { requests, bad: after })
  const tests = domains + 1
  const expected = usual * (1 + variation)
  return (
    computePValue(table, after) <= significance / tests &&
    computeNegativeBinomialTail(after, expected, dispersion) < level / tests
  )
}

/** Finds a count of errors that is exceeded unlikely. */
function findUpperQuantile(mean: number, dispersion: number): number {
  const isWithin = (x: number) =>
    computeNegativeBinomialTail(x, mean, dispersion) > unlikely.probability
  let [low, high] = [0, 1]
  while (isWithin(high)) [low, high] = [high, 2 * high]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isWithin(middle)) low = middle
    else high = middle
  }
  return high
}
