/** Seconds of a piece of work at a size. */
export interface Sample {
  size: number
  seconds: number
}

/**
 * Computes how fast the time grows with the size: the slope of a straight line, by least squares,
 * through the logarithms of size and seconds of the three largest sizes, which are two decades. 1
 * is linear; the fixed cost of a start makes it smaller.
 *
 * @throws Error for fewer than two sizes
 */
export function computeExponent(samples: Sample[]): number {
  const points = samples
    .toSorted((a, b) => a.size - b.size)
    .slice(-3)
    .map(({ size, seconds }) => ({ x: Math.log10(size), y: Math.log10(seconds) }))
  if (points.length < 2) throw new Error('an exponent needs two sizes')
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const above = sum(points.map((point) => (point.x - x) * (point.y - y)))
  return above / sum(points.map((point) => (point.x - x) ** 2))
}

function mean(values: number[]): number {
  return sum(values) / values.length
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
