import type { Sample, Variation } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { CountSample } from './count-sample.ts'
import {
  estimateLevel,
  measureDispersion,
  minWindows,
  poolDispersion,
  type Level,
} from './dispersion.ts'
import { computeNegativeBinomialTail } from './negative-binomial.ts'

/** Number of the latest windows that count as the recent level. */
const recentWindows = 4
/** Minimum number of controls whose median shows a gust of all domains. */
const minControls = 3

/** P-values of a rise under the variation of the baseline; null where that is not known. */
export interface Expectations {
  test(domain: Domain, after: Sample): number | null
  /** Tests the sum of some domains, whose windows vary together. */
  testTogether(after: ReadonlyMap<Domain, Sample>): number | null
}

interface DomainLevel extends Level {
  samples: Sample[]
  /** Expected share of bad answers in the later window. */
  expected: number
}

/**
 * Learns from the windows of a baseline which share of bad answers to expect, and how much it
 * varies. A domain is assumed to vary at least as much as the average of all, and to rise as much
 * as the median of the controls did.
 */
export function learnExpectations(
  { windows, controls }: Variation,
  countSample: CountSample,
): Expectations {
  const levels = new Map(
    [...windows].flatMap(([domain, samples]): [Domain, DomainLevel][] => {
      const level = estimateLevel(samples)
      if (level === null) return []
      const expected = Math.max(level.share, computeRecentShare(samples))
      return [[domain, { ...level, samples, expected }]]
    }),
  )
  const pooled = poolDispersion([...levels.values()])
  const rise = findCommonRise(levels, new Map([...controls].map(([d, c]) => [d, countSample(c)])))
  return {
    test: (domain, after) => {
      const level = levels.get(domain)
      if (level === undefined) return null
      const dispersion = Math.max(level.dispersion, pooled)
      const expected = after.requests * level.expected * rise
      return computeNegativeBinomialTail(after.bad, expected, addUncertainty(dispersion, level))
    },
    testTogether: (after) => {
      const known = [...after].flatMap(([domain, sample]) => {
        const level = levels.get(domain)
        return level === undefined ? [] : [{ sample, level }]
      })
      if (known.length === 0) return null
      const sums = sumWindows(known.map(({ level }) => level))
      if (sums.length < minWindows) return null
      const bad = known.reduce((sum, { sample }) => sum + sample.bad, 0)
      const expected = known.reduce(
        (sum, { sample, level }) => sum + sample.requests * level.expected,
        0,
      )
      const past = { windows: sums.length, bad: sums.reduce((sum, each) => sum + each.bad, 0) }
      return computeNegativeBinomialTail(
        bad,
        expected * rise,
        addUncertainty(measureDispersion(sums), past),
      )
    },
  }
}

/** Adds the variance of the estimated mean itself. */
function addUncertainty(
  dispersion: number,
  { windows, bad }: Pick<Level, 'windows' | 'bad'>,
): number {
  return dispersion * (1 + 1 / windows) + 1 / (bad + 1)
}

function computeRecentShare(samples: Sample[]): number {
  const recent = samples.slice(0, recentWindows)
  const requests = recent.reduce((sum, each) => sum + each.requests, 0)
  return requests === 0 ? 0 : recent.reduce((sum, each) => sum + each.bad, 0) / requests
}

/** Finds the factor by which the median control rose, at least 1. */
function findCommonRise(
  levels: ReadonlyMap<Domain, DomainLevel>,
  controls: ReadonlyMap<Domain, Sample>,
): number {
  const ratios = [...controls].flatMap(([domain, { requests, bad }]) => {
    const expected = requests * (levels.get(domain)?.expected ?? 0)
    return expected === 0 ? [] : [bad / expected]
  })
  if (ratios.length < minControls) return 1
  const sorted = ratios.toSorted((a, b) => a - b)
  return Math.max(1, sorted[Math.floor(sorted.length / 2)] ?? 1)
}

/** Sums the windows of several domains, each against the mean shares of its domains. */
function sumWindows(levels: DomainLevel[]) {
  const length = levels.reduce((longest, { samples }) => Math.max(longest, samples.length), 0)
  return Array.from({ length }, (_, i) => {
    let [bad, expected, variance] = [0, 0, 0]
    for (const { samples, share } of levels) {
      const sample = samples[i]
      if (sample === undefined) continue
      bad += sample.bad
      expected += sample.requests * share
      variance += sample.requests * share * (1 - share)
    }
    return { bad, expected, variance }
  })
}
