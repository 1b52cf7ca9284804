import type { Problem } from '../model/problem.ts'
import { refuse } from './problems.ts'

const day = 24 * 60 * 60
/**
 * Two years of 365 days, in seconds: the most that the specification allows (section "Limits",
 * "cache time").
 */
const most = 2 * 365 * day

/** Seconds of each unit, in both spellings. A month is 1/24 of two years. */
const seconds: Record<string, number> = {
  Y: most / 2,
  M: most / 24,
  D: day,
  h: 60 * 60,
  i: 60,
  s: 1,
  year: most / 2,
  month: most / 24,
  day,
  hour: 60 * 60,
  minute: 60,
  second: 1,
}

/** True when a cache time is longer than two years. */
export function isTooLong(time: number, unit: string): boolean {
  return time * (seconds[unit] ?? 1) > most
}

/** The problem of a cache time over two years; none when it is in order. */
export function checkCacheTime(pointer: string, time: number, unit: string): Problem[] {
  if (!isTooLong(time, unit)) return []
  const allowed = Math.floor(most / (seconds[unit] ?? 1))
  return [refuse(pointer, `expected at most 2 years (${allowed} ${unit}), got ${time} ${unit}`)]
}
