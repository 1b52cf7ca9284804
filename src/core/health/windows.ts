import type { HealthRule, HealthWindows } from '../model/health.ts'
import { alignDown, alignUp, grainMs, findPeriodEnd, type Grain } from '../model/statistics.ts'
import type { TimeZone } from '../model/time/time-zone.ts'

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
  { settle, lag, window, grain }: Pick<HealthRule, 'settle' | 'lag' | 'window' | 'grain'>,
  zone: TimeZone,
): HealthWindows {
  const periods = Math.max(1, Math.ceil((window * 1000) / grainMs[grain]))
  const from = alignUp(lastConfirmedAtMs + settle * 1000, grain, zone)
  const to = addPeriods(from, periods, grain, zone)
  const end = alignDown(firstWriteAtMs, grain, zone)
  return {
    before: { from: addPeriods(end, -periods, grain, zone), to: end },
    after: { from, to },
    readyAt: to + lag * 1000,
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
