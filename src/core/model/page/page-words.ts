import { formatCount } from '../text/words.ts'

export { formatCount, pluralize as formatNoun } from '../text/words.ts'

/** Formats a duration in seconds by its two largest units, such as `1 h 20 min`. */
export function formatDuration(seconds: number): string {
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ]
  let rest = Math.round(seconds)
  const words: string[] = []
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length)
    rest -= count * length
    if (count > 0 && words.length < 2) words.push(`${formatCount(count)} ${unit}`)
  }
  return words.length === 0 ? '0 s' : words.join(' ')
}

/** Formats a time after the begin in seconds as on a clock, such as `0:04` or `1:20:00`. */
export function formatClock(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const pad = (value: number) => String(value).padStart(2, '0')
  return hours === 0
    ? `${minutes}:${pad(whole % 60)}`
    : `${formatCount(hours)}:${pad(minutes)}:${pad(whole % 60)}`
}
