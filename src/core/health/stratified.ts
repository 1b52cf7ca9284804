import { addUp } from '../model/lists.ts'
import {
  computePValue,
  computePmf,
  computeMoments,
  type ContingencyTable,
} from './hypergeometric.ts'

/** Maximum variance for computing the distribution exactly; beyond it is nearly normal. */
const maxExactVariance = 400
/** Smaller probabilities are left out of a distribution. */
const minProbability = 1e-18

/**
 * Computes the one-sided p-value of the stratified test (Mantel–Haenszel): the probability of at
 * least `observed` bad answers if nothing has changed in any stratum. Each stratum is compared only
 * with itself, so that traffic that moves from a good domain to a worse one is no rise.
 *
 * @param observed number of bad answers in the later windows of all strata
 */
export function computeStratifiedPValue(strata: ContingencyTable[], observed: number): number {
  const free = strata.filter(({ minBad, maxBad }) => minBad < maxBad)
  const fixed = addUp(strata, ({ minBad, maxBad }) => (minBad < maxBad ? 0 : minBad))
  const x = observed - fixed
  const [only] = free
  if (only === undefined) return x <= 0 ? 1 : 0
  if (free.length === 1) return computePValue(only, x)
  const moments = free.map(computeMoments)
  const [mean, variance, third] = (['mean', 'variance', 'third'] as const).map((key) =>
    addUp(moments, (each) => each[key]),
  )
  if ((variance ?? 0) <= maxExactVariance) return computeExactPValue(free, x)
  return approximatePValue(x, mean ?? 0, variance ?? 0, third ?? 0)
}

/** Probabilities of `from`, `from + 1`, … */
interface Distribution {
  from: number
  probabilities: number[]
}

function computeExactPValue(strata: ContingencyTable[], x: number): number {
  let sum: Distribution = { from: 0, probabilities: [1] }
  for (const table of strata) sum = convolve(sum, computeDistribution(table))
  return Math.min(
    1,
    sum.probabilities.reduce((all, each, i) => (sum.from + i >= x ? all + each : all), 0),
  )
}

/** Computes all probabilities that are not negligible, from the mean to both sides. */
function computeDistribution(table: ContingencyTable): Distribution {
  const middle = Math.min(
    table.maxBad,
    Math.max(table.minBad, Math.round(computeMoments(table).mean)),
  )
  const up: number[] = []
  for (let x = middle; x <= table.maxBad; x++)
    if (!pushUnlessNegligible(up, computePmf(table, x))) break
  const down: number[] = []
  for (let x = middle - 1; x >= table.minBad; x--)
    if (!pushUnlessNegligible(down, computePmf(table, x))) break
  return { from: middle - down.length, probabilities: [...down.toReversed(), ...up] }
}

function pushUnlessNegligible(list: number[], value: number): boolean {
  if (value < minProbability && list.length > 0) return false
  list.push(value)
  return true
}

/** Computes the distribution of the sum of two independent variables. */
function convolve(a: Distribution, b: Distribution): Distribution {
  const probabilities = Array.from(
    { length: a.probabilities.length + b.probabilities.length - 1 },
    () => 0,
  )
  for (let i = 0; i < a.probabilities.length; i++) {
    const left = a.probabilities[i] ?? 0
    for (let k = 0; k < b.probabilities.length; k++)
      probabilities[i + k] = (probabilities[i + k] ?? 0) + left * (b.probabilities[k] ?? 0)
  }
  const first = probabilities.findIndex((each) => each >= minProbability)
  const last = probabilities.findLastIndex((each) => each >= minProbability)
  return first === -1
    ? { from: a.from + b.from, probabilities }
    : { from: a.from + b.from + first, probabilities: probabilities.slice(first, last + 1) }
}

/**
 * Approximates the upper tail of a nearly normal distribution, with corrections for its skew
 * (Edgeworth) and for continuity.
 */
function approximatePValue(x: number, mean: number, variance: number, third: number): number {
  const deviation = Math.sqrt(variance)
  const z = (x - 0.5 - mean) / deviation
  const skew = third / (variance * deviation)
  const correction = (computeNormalDensity(z) * skew * (z * z - 1)) / 6
  return Math.min(1, Math.max(0, computeNormalUpperTail(z) + correction))
}

function computeNormalDensity(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
}

/**
 * Computes the upper tail of the standard normal distribution. Far from the mean by the continued
 * fraction, which keeps the relative error small.
 */
function computeNormalUpperTail(z: number): number {
  if (z < 0) return 1 - computeNormalUpperTail(-z)
  const density = computeNormalDensity(z)
  if (z < 2.5) {
    // Power series near the mean.
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
