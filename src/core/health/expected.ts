import { addUp, findMax } from '../model/lists.ts'
import type { Sample, Variation } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { CountSample } from './count-sample.ts'
import { computeNegativeBinomialTail } from './negative-binomial.ts'

/** Number of the latest windows that count as the recent level. */
const recentWindows = 4

interface DomainLevel extends Level {
  samples: Sample[]
  /** Expected share of bad answers in the later window. */
  expected: number
}

/**
 * Learns from the windows of a baseline which share of bad answers to expect, and how much it
 * varies. A domain is assumed to vary at least as much as the average of all. Its tests return the
 * p-value of a rise; null where that is not known.
 */
export function learnExpectations({ windows, controls }: Variation, countSample: CountSample) {
  const levels = new Map(
    [...windows].flatMap(([domain, samples]): [Domain, DomainLevel][] => {
      const level = estimateLevel(samples)
      if (level === null) return []
      const expected = Math.max(level.share, computeRecentShare(samples))
      return [[domain, { ...level, samples, expected }]]
    }),
  )
  const pooled = poolDispersion([...levels.values()])
  const ratios = listRatios([...levels.values()])
  const test = (domain: Domain, after: Sample): number | null => {
    const level = levels.get(domain)
    if (level === undefined) return null
    const dispersion = Math.max(level.dispersion, pooled)
    const expected = after.requests * level.expected
    const p = computeNegativeBinomialTail(after.bad, expected, addUncertainty(dispersion, level))
    const usual = expected === 0 ? 0 : findShareAbove(ratios, after.bad / expected)
    if (p < certain && after.bad > outage * after.requests) return p
    return Math.max(p, gustWeight * usual)
  }
  return {
    test,
    /**
     * Finds the greatest rise of a control, percentage points, if several rose beyond a margin
     * together: what raised them may have raised domains that changed too.
     */
    findDisturbance: (margin: number): number => {
      const rises = [...controls].flatMap(([domain, counts]) => {
        const after = countSample(counts)
        const points = 100 * (after.bad / after.requests - (levels.get(domain)?.expected ?? 0))
        return points > margin && (test(domain, after) ?? 1) < disturbed ? [points] : []
      })
      return rises.length < minDisturbed * controls.size ? 0 : findMax(rises)
    },
    /** Tests the sum of some domains, whose windows vary together. */
    testTogether: (after: ReadonlyMap<Domain, Sample>): number | null => {
      const known = [...after].flatMap(([domain, sample]) => {
        const level = levels.get(domain)
        return level === undefined ? [] : [{ sample, level }]
      })
      if (known.length === 0) return null
      const sums = sumWindows(known.map(({ level }) => level))
      if (sums.length < minWindows) return null
      const bad = addUp(known, ({ sample }) => sample.bad)
      const expected = known.reduce(
        (sum, { sample, level }) => sum + sample.requests * level.expected,
        0,
      )
      const past = { windows: sums.length, bad: addUp(sums, (each) => each.bad) }
      return computeNegativeBinomialTail(
        bad,
        expected,
        addUncertainty(measureDispersion(sums), past),
      )
    },
  }
}

/**
 * P-value of a rise that every earlier window had: gusts of a fleet have longer tails than the
 * distribution, so that a ratio which windows without a change had too is no evidence.
 */
const gustWeight = 0.015
/** P-value and share of a rise that is evidence whatever happened before, such as an incident. */
const [certain, outage] = [1e-8, 0.2]
/** P-value of a control that rose, and the share of controls that shows a disturbance of many. */
const [disturbed, minDisturbed] = [1e-3, 0.05]

/** Lists how many times as many bad answers as expected each earlier window had, sorted. */
function listRatios(levels: DomainLevel[]): Float64Array {
  const ratios = levels.flatMap(({ samples, expected }) =>
    samples.flatMap(({ requests, bad }) =>
      requests * expected < minExpected ? [] : [bad / (requests * expected)],
    ),
  )
  return Float64Array.from(ratios).toSorted()
}

/** Minimum number of expected bad answers in a window whose ratio counts. */
const minExpected = 1
/** With fewer windows, a single incident before would hide the next one. */
const minRatios = 1000

/** Finds the share of sorted numbers that are at least as large as one; 0 for few numbers. */
function findShareAbove(sorted: Float64Array, least: number): number {
  let [start, end] = [0, sorted.length]
  while (start < end) {
    const middle = (start + end) >> 1
    if ((sorted[middle] ?? 0) < least) start = middle + 1
    else end = middle
  }
  return sorted.length < minRatios ? 0 : (sorted.length - start) / sorted.length
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
  const requests = addUp(recent, (each) => each.requests)
  return requests === 0 ? 0 : addUp(recent, (each) => each.bad) / requests
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

/** Share of bad answers in the windows of a baseline, and how much it varies. */
interface Level {
  windows: number
  /** Bad answers in all windows. */
  bad: number
  /** Mean share of bad answers. */
  share: number
  /**
   * Variance of the share between windows beyond chance, relative to the square of its mean: 0 if
   * requests fail independently.
   */
  dispersion: number
}

/** Smaller samples say nothing about the variation between windows. */
const minWindows = 4
/** A window counts with at most so many times the median share, or so many points above it. */
const maxRatio = 4
const maxRise = 0.03

/**
 * Estimates the level of a baseline from its windows (method of moments). A window far above the
 * others, such as an incident, is capped: otherwise nothing could be worse for days. Null with too
 * few windows.
 */
export function estimateLevel(samples: Sample[]): Level | null {
  const windows = samples.filter(({ requests }) => requests > 0)
  if (windows.length < minWindows) return null
  const shares = Float64Array.from(windows, ({ requests, bad }) => bad / requests).toSorted()
  const median = shares[Math.floor(shares.length / 2)] ?? 0
  const cap = Math.max(maxRatio * median, median + maxRise)
  const capped = windows.map(({ requests, bad }) => ({
    requests,
    bad: Math.min(bad, requests * cap),
  }))
  const bad = sumField(capped, 'bad')
  const share = bad / sumField(capped, 'requests')
  const dispersion = measureDispersion(
    capped.map((each) => {
      const expected = each.requests * share
      return { bad: each.bad, expected, variance: expected * (1 - share) }
    }),
  )
  return { windows: windows.length, bad, share, dispersion }
}

/** A window with its expected number of bad answers, and the variance of that by chance. */
interface ExpectedWindow {
  bad: number
  expected: number
  variance: number
}

/**
 * Measures how much the ratio of bad to expected answers varies between windows beyond chance: its
 * variance (method of moments).
 */
function measureDispersion(windows: ExpectedWindow[]): number {
  let [excess, squares] = [0, 0]
  for (const { bad, expected, variance } of windows) {
    excess += (bad - expected) ** 2 - variance
    squares += expected ** 2
  }
  // The expected numbers were estimated from the same windows.
  const n = windows.length
  return squares === 0 || n < 2 ? 0 : Math.max(0, ((n / (n - 1)) * excess) / squares)
}

/** Minimum mean of bad answers in a window that counts fully for the pooled dispersion. */
const fullWeight = 10

/** Pools the dispersion of several levels; those with few bad answers weigh less. */
function poolDispersion(levels: Level[]): number {
  let [sum, weights] = [0, 0]
  for (const { dispersion, bad, windows } of levels) {
    const weight = Math.min(1, bad / windows / fullWeight)
    sum += weight * dispersion
    weights += weight
  }
  return weights === 0 ? 0 : sum / weights
}

function sumField(samples: Sample[], key: keyof Sample): number {
  return addUp(samples, (each) => each[key])
}
