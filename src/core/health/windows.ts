import type { HealthRule, HealthWindows } from '../model/health.ts'
import { alignDown, alignUp, grainMs, findPeriodEnd, type Grain } from '../model/statistics.ts'
import type { TimeZone } from '../model/time/time-zone.ts'

/** Computes the length of a window of whole periods, ms. */
export function computeLength({ window, grain }: Pick<HealthRule, 'window' | 'grain'>): number {
  return Math.max(1, Math.ceil((window * 1000) / grainMs[grain])) * grainMs[grain]
}

/**
 * Computes the windows to compare for a wave: the baseline ends at its first write, `after` starts
 * `settle` after its last confirmed write. Both have the same number of whole periods of the
 * service's statistics, in the service's time zone.
 *
 * @param firstWriteAtMs instant when the wave's first write was sent, ms since 1970
 * @param lastConfirmedAtMs instant when its last write was confirmed, ms since 1970
 */
export function computeWindows(
  firstWriteAtMs: number,
  lastConfirmedAtMs: number,
  rule: Omit<HealthRule, 'statuses' | 'minRequests' | 'margin'>,
  zone: TimeZone,
): HealthWindows {
  const { settle, lag, grain } = rule
  const periods = computeLength(rule) / grainMs[grain]
  const from = alignUp(lastConfirmedAtMs + settle * 1000, grain, zone)
  const to = addPeriods(from, periods, grain, zone)
  const end = alignDown(firstWriteAtMs, grain, zone)
  return {
    before: { from: addPeriods(end, -periods, grain, zone), to: end },
    after: { from, to },
    readyAt: to + lag * 1000,
  }
}

/**
 * Finds the latest look at a wave that has passed: windows follow each other from `after` on, so
 * that a process that takes over repeats the same look. It has the latest window, a longer one that
 * decides, and its share of an error rate: those of all looks, 1/2 + 1/6 + 1/12 …, add up to 1.
 *
 * @param known time up to which the counts are reliable, ms since 1970
 * @param maxWindows maximum number of windows that decide
 * @returns null before the end of the second window
 */
export function findLook({ after }: HealthWindows, known: number, maxWindows: number) {
  const lengthMs = after.to - after.from
  const number = Math.floor((known - after.to) / lengthMs)
  const to = after.to + number * lengthMs
  if (number < 1) return null
  return {
    latest: { from: to - lengthMs, to },
    deciding: { from: Math.max(after.from, to - maxWindows * lengthMs), to },
    share: 1 / (number * (number + 1)),
  }
}

/** Adds a number of periods to an instant, ms; a negative number subtracts. */
function addPeriods(startMs: number, periods: number, grain: Grain, zone: TimeZone): number {
  if (grain !== 'day') return startMs + periods * grainMs[grain]
  let atMs = startMs
  for (let i = 0; i < periods; i++) atMs = findPeriodEnd(atMs, grain, zone)
  for (let i = 0; i > periods; i--) atMs = alignDown(atMs - 1, grain, zone)
  return atMs
}
