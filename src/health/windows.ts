import type { HealthRule, HealthWindows } from '../model/health.ts'
import { alignDown, alignUp, grainMs, findPeriodEnd, type Grain } from '../model/statistics.ts'
import type { TimeZone } from '../model/time-zone.ts'

/**
 * The windows that are compared for a wave. `after` begins `settle` after the last confirmed write,
 * `before` ends where the first write began, and both are equally many whole periods of the
 * service's statistics, by the clock of its zone.
 *
 * @param firstWriteAt when the wave's first write was sent, ms since 1970
 * @param lastConfirmedAt when its last write was confirmed, ms since 1970
 */
export function computeWindows(
  firstWriteAt: number,
  lastConfirmedAt: number,
  { settle, lag, window, grain }: Pick<HealthRule, 'settle' | 'lag' | 'window' | 'grain'>,
  zone: TimeZone,
): HealthWindows {
  const periods = Math.max(1, Math.ceil((window * 1000) / grainMs[grain]))
  const from = alignUp(lastConfirmedAt + settle * 1000, grain, zone)
  const to = moved(from, periods, grain, zone)
  const end = alignDown(firstWriteAt, grain, zone)
  return {
    before: { from: moved(end, -periods, grain, zone), to: end },
    after: { from, to },
    readyAt: to + lag * 1000,
  }
}

/** So many periods later, or earlier. */
function moved(time: number, periods: number, grain: Grain, zone: TimeZone): number {
  if (grain !== 'day') return time + periods * grainMs[grain]
  let at = time
  for (let i = 0; i < periods; i++) at = findPeriodEnd(at, grain, zone)
  for (let i = 0; i > periods; i--) at = alignDown(at - 1, grain, zone)
  return at
}
