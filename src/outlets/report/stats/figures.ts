const units = ['', 'k', 'M', 'G', 'T', 'P']
const bars = '▁▂▃▄▅▆▇█'

/**
 * Formats a whole number in at most five characters: exact up to 9999, then three digits and a
 * unit.
 */
export function formatCount(count: number): string {
  if (count < 10_000) return String(count)
  let [value, unit] = [count, 0]
  // A value that rounds to 1000 gets the next unit.
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000
  return `${value.toPrecision(3)}${units[unit]}`
}

/**
 * Formats a share (0 to 1) in percent with two decimals; a positive share that rounds to zero is
 * `<0.01`.
 */
export function formatPercent(share: number): string {
  if (share > 0 && share < 0.000_05) return '<0.01'
  return (share * 100).toFixed(2)
}

/** Draws a line of bars, from 0 to `top`; a dot for a missing value. */
export function drawSparkline(values: (number | null)[], top: number): string {
  return values
    .map((value) =>
      value === null
        ? '·'
        : (bars[Math.min(bars.length - 1, Math.floor((value / top) * bars.length))] ?? ''),
    )
    .join('')
}
