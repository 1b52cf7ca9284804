const units = ['', 'k', 'M', 'G', 'T', 'P']
const bars = '▁▂▃▄▅▆▇█'

/** A whole number in at most five characters: exact up to 9999, then three digits and a unit. */
export function formatCount(count: number): string {
  if (count < 10_000) return String(count)
  let [value, unit] = [count, 0]
  // What would be shown as 1000 takes the next unit.
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000
  return `${value.toPrecision(3)}${units[unit]}`
}

/**
 * A share (0 to 1) in percent, two digits after the point; what is there and rounds to nothing is
 * `<0.01`.
 */
export function formatPercent(share: number): string {
  if (share > 0 && share < 0.000_05) return '<0.01'
  return (share * 100).toFixed(2)
}

/** A line of bars, from 0 to `top`; a dot where there is no value. */
export function drawSparkline(values: (number | null)[], top: number): string {
  return values
    .map((value) =>
      value === null
        ? '·'
        : (bars[Math.min(bars.length - 1, Math.floor((value / top) * bars.length))] ?? ''),
    )
    .join('')
}
