const exact: number[] = [0]
for (let n = 1; n < 64; n++) exact.push((exact[n - 1] ?? 0) + Math.log(n))

/**
 * Computes the natural logarithm of n! for whole n from 0. Exact to the last digits of a double;
 * large n by Stirling's series.
 */
export function logFactorial(n: number): number {
  const known = exact[n]
  if (known !== undefined) return known
  return (
    (n + 0.5) * Math.log(n) -
    n +
    0.5 * Math.log(2 * Math.PI) +
    1 / (12 * n) -
    1 / (360 * n ** 3) +
    1 / (1260 * n ** 5)
  )
}

/** Computes the natural logarithm of the binomial coefficient n over k. */
export function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}
