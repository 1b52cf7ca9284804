import type { Sample } from '../model/health.ts'

/** Share of bad answers in the windows of a baseline, and how much it varies. */
export interface Level {
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
export const minWindows = 4
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
export function measureDispersion(windows: ExpectedWindow[]): number {
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
export function poolDispersion(levels: Level[]): number {
  let [sum, weights] = [0, 0]
  for (const { dispersion, bad, windows } of levels) {
    const weight = Math.min(1, bad / windows / fullWeight)
    sum += weight * dispersion
    weights += weight
  }
  return weights === 0 ? 0 : sum / weights
}

function sumField(samples: Sample[], key: keyof Sample): number {
  return samples.reduce((sum, each) => sum + each[key], 0)
}
