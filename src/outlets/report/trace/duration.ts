import { pluralize } from '../../../core/model/text/words.ts'

/** Units of cache rules with their seconds, the longest first. */
const units: [seconds: number, name: string, word: string][] = [
  [31_536_000, 'Y', 'year'],
  [2_628_000, 'M', 'month'],
  [86_400, 'D', 'day'],
  [3600, 'h', 'hour'],
  [60, 'min', 'minute'],
  [1, 's', 'second'],
]

function findUnit(seconds: number) {
  return (
    units.find(([each]) => seconds >= each && seconds % each === 0) ?? ([1, 's', 'second'] as const)
  )
}

/** Formats seconds in the longest unit in which they are a whole number: `30 D`, `90 s`. */
export function formatSeconds(seconds: number): string {
  const [size, name] = findUnit(seconds)
  return `${seconds / size} ${name}`
}

/** Formats seconds as `formatSeconds`, in words: `30 days`. */
export function formatSecondsInWords(seconds: number): string {
  const [size, , word] = findUnit(seconds)
  return pluralize(seconds / size, word)
}

/** Formats a count of a unit of cache rules in words: `30 days`; `i` is a minute. */
export function formatCountInWords(count: number, unit: string): string {
  const word = units.find(([, name]) => name === (unit === 'i' ? 'min' : unit))?.[2] ?? unit
  return pluralize(count, word)
}
