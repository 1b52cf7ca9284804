import { logGamma } from './log-gamma.ts'

/** A smaller dispersion is the same in practice, and would cost digits. */
const minDispersion = 1e-6

/**
 * Computes the upper tail of the negative binomial distribution: the probability of at least `x`
 * events if their rate itself varies (gamma–Poisson).
 *
 * @param mean expected number of events
 * @param dispersion variance of the rate, relative to the square of its mean; 0 for a constant rate
 */
export function computeNegativeBinomialTail(x: number, mean: number, dispersion: number): number {
  if (x <= 0) return 1
  if (mean <= 0) return 0
  const size = 1 / Math.max(dispersion, minDispersion)
  return computeIncompleteBeta(mean / (mean + size), x, size)
}

/** Computes the regularized incomplete beta function by its continued fraction. */
function computeIncompleteBeta(p: number, a: number, b: number): number {
  const logFront =
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(p) + b * Math.log1p(-p)
  const front = Math.exp(logFront)
  return p < (a + 1) / (a + b + 2)
    ? Math.min(1, (front * computeFraction(p, a, b)) / a)
    : Math.max(0, 1 - (front * computeFraction(1 - p, b, a)) / b)
}

const maxTerms = 100_000
const precision = 1e-14
const tiny = 1e-300

/** Evaluates the continued fraction of the incomplete beta function (Lentz's algorithm). */
function computeFraction(p: number, a: number, b: number): number {
  const avoidZero = (value: number) => (Math.abs(value) < tiny ? tiny : value)
  let c = 1
  let d = 1 / avoidZero(1 - ((a + b) * p) / (a + 1))
  let fraction = d
  for (let m = 1; m <= maxTerms; m++) {
    const even = (m * (b - m) * p) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * p) / ((a + 2 * m) * (a + 2 * m + 1))
    for (const term of [even, odd]) {
      d = 1 / avoidZero(1 + term * d)
      c = avoidZero(1 + term / c)
      fraction *= d * c
    }
    if (Math.abs(d * c - 1) < precision) break
  }
  return fraction
}
