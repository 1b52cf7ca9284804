const exact: number[] = [0]
for (let n = 1; n < 64; n++) exact.push((exact[n - 1] ?? 0) + Math.log(n))

/**
 * The natural logarithm of n! for whole numbers from 0; Stirling's series beyond small ones, exact
 * to the last digits of a double.
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

/** The logarithm of the number of ways to choose k of n. */
export function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}
