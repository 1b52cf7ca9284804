import {
  computePValue,
  computePmf,
  computeMoments,
  type ContingencyTable,
} from './hypergeometric.ts'

/**
 * Up to this variance the distribution of the sum is worked out term by term; beyond, it is as good
 * as normal.
 */
const mostVariance = 400
/** Likelihoods below this are left out of a distribution. */
const negligible = 1e-18

/**
 * How likely the later windows of all strata together have at least so many bad answers when
 * nothing has changed in any of them (Mantel and Haenszel). Each stratum is compared with itself
 * only, so that traffic that moves from a good domain to a worse one is no rise.
 *
 * @param observed bad answers in all later windows together
 */
export function computeStratifiedPValue(strata: ContingencyTable[], observed: number): number {
  const free = strata.filter(({ minBad, maxBad }) => minBad < maxBad)
  const fixed = strata.reduce((sum, { minBad, maxBad }) => sum + (minBad < maxBad ? 0 : minBad), 0)
  const x = observed - fixed
  const [only] = free
  if (only === undefined) return x <= 0 ? 1 : 0
  if (free.length === 1) return computePValue(only, x)
  const moments = free.map(computeMoments)
  const [mean, variance, third] = (['mean', 'variance', 'third'] as const).map((key) =>
    moments.reduce((sum, each) => sum + each[key], 0),
  )
  if ((variance ?? 0) <= mostVariance) return tail(free, x)
  return nearlyNormal(x, mean ?? 0, variance ?? 0, third ?? 0)
}

/** A piece of a distribution: likelihoods of `from`, `from + 1`, … */
interface Distribution {
  from: number
  likelihoods: number[]
}

function tail(strata: ContingencyTable[], x: number): number {
  let sum: Distribution = { from: 0, likelihoods: [1] }
  for (const fall of strata) sum = together(sum, distributionOf(fall))
  return Math.min(
    1,
    sum.likelihoods.reduce((all, each, i) => (sum.from + i >= x ? all + each : all), 0),
  )
}

/** All that is not negligible, from the likeliest value to both sides. */
function distributionOf(fall: ContingencyTable): Distribution {
  const middle = Math.min(fall.maxBad, Math.max(fall.minBad, Math.round(computeMoments(fall).mean)))
  const up: number[] = []
  for (let x = middle; x <= fall.maxBad; x++) if (!push(up, computePmf(fall, x))) break
  const down: number[] = []
  for (let x = middle - 1; x >= fall.minBad; x--) if (!push(down, computePmf(fall, x))) break
  return { from: middle - down.length, likelihoods: [...down.toReversed(), ...up] }
}

function push(list: number[], value: number): boolean {
  if (value < negligible && list.length > 0) return false
  list.push(value)
  return true
}

/** The distribution of a sum. */
function together(a: Distribution, b: Distribution): Distribution {
  const likelihoods = Array.from(
    { length: a.likelihoods.length + b.likelihoods.length - 1 },
    () => 0,
  )
  for (let i = 0; i < a.likelihoods.length; i++) {
    const left = a.likelihoods[i] ?? 0
    for (let k = 0; k < b.likelihoods.length; k++)
      likelihoods[i + k] = (likelihoods[i + k] ?? 0) + left * (b.likelihoods[k] ?? 0)
  }
  const first = likelihoods.findIndex((each) => each >= negligible)
  const last = likelihoods.findLastIndex((each) => each >= negligible)
  return first === -1
    ? { from: a.from + b.from, likelihoods }
    : { from: a.from + b.from + first, likelihoods: likelihoods.slice(first, last + 1) }
}

/**
 * The tail of a distribution that is close to normal, with a correction for its skew (Edgeworth)
 * and for whole numbers.
 */
function nearlyNormal(x: number, mean: number, variance: number, third: number): number {
  const deviation = Math.sqrt(variance)
  const z = (x - 0.5 - mean) / deviation
  const skew = third / (variance * deviation)
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
  return Math.min(1, Math.max(0, upperTail(z) + (density * skew * (z * z - 1)) / 6))
}

/**
 * How likely a normal value is above z; by the continued fraction in the tail, whose relative error
 * stays small.
 */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
  if (z < 2.5) {
    // The power series of the middle.
    let term = z
    let sum = z
    for (let k = 1; Math.abs(term) > 1e-17; k++) {
      term *= (z * z) / (2 * k + 1)
      sum += term
    }
    return 0.5 - density * sum
  }
  let fraction = 0
  for (let k = 60; k >= 1; k--) fraction = k / (z + fraction)
  return density / (z + fraction)
}
