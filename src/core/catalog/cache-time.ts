import type { Problem } from '../model/problem.ts'
import { describeRefusal } from './problems.ts'

const day = 24 * 60 * 60
/** Maximum cache time in seconds: two years of 365 days (specification, "Limits", "cache time"). */
const maxSeconds = 2 * 365 * day

/** Seconds of each unit, in both spellings. A month is 1/24 of two years. */
const secondsByUnit: Record<string, number> = {
  Y: maxSeconds / 2,
  M: maxSeconds / 24,
  D: day,
  h: 60 * 60,
  i: 60,
  s: 1,
  year: maxSeconds / 2,
  month: maxSeconds / 24,
  day,
  hour: 60 * 60,
  minute: 60,
  second: 1,
}

/** Converts a time to seconds; a unit that is not known is a second. */
export function toSeconds(time: number, unit: string): number {
  return time * (secondsByUnit[unit] ?? 1)
}

/** Reports a cache time of more than two years. */
export function checkCacheTime(pointer: string, time: number, unit: string): Problem[] {
  if (toSeconds(time, unit) <= maxSeconds) return []
  const allowed = Math.floor(maxSeconds / toSeconds(1, unit))
  return [
    describeRefusal(pointer, `expected at most 2 years (${allowed} ${unit}), got ${time} ${unit}`),
  ]
}
