/** Terms of Stirling's series are exact to the last digits from here on. */
const minStirling = 10

/** Computes the natural logarithm of the gamma function for x above 0. */
export function logGamma(x: number): number {
  let shift = 0
  let at = x
  for (; at < minStirling; at++) shift += Math.log(at)
  const square = at * at
  const series =
    (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) /
    at
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift
}

/** Computes the natural logarithm of the binomial coefficient n over k. */
export function logChoose(n: number, k: number): number {
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1)
}
