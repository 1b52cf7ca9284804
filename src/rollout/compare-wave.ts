import { createSampleCount } from '../health/count-sample.ts'
import { computePeriodsPerPoint, createCurve } from '../health/curve.ts'
import {
  computeSpan,
  createEarlierRequests,
  type EarlierRequests,
} from '../health/earlier-windows.ts'
import { judgeWave } from '../health/judge.ts'
import type { HealthConfig } from '../model/config.ts'
import type { CurvePoint, DomainCounts, WaveHealth, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { TimeZone } from '../model/time-zone.ts'
import type { StatusCounts } from './ports.ts'

/** Requests of a wave in a window: by domain, and of all domains over time. */
export interface CountedWindow {
  window: Window
  counts: DomainCounts
  curve: CurvePoint[]
}

/** Health of a wave, and the windows that it rests on. */
export interface ComparedWave extends WaveHealth {
  before: CountedWindow
  after: CountedWindow
}

/** Queries the statistics of a wave. */
export interface WaveQueries {
  /** Counts the requests of a window; throws the errors of queries. */
  count(window: Window): Promise<CountedWindow>
  /** Compares the requests of a window with the baseline; throws the errors of queries. */
  compare(before: CountedWindow, window: Window): Promise<ComparedWave>
}

/**
 * Creates the queries of a wave, which compare it with its baseline. The statistics of some days
 * before the wave, and those of the controls, are queried only for a rise, and the former once.
 *
 * @param controls domains that did not change
 * @param baseline window of the baseline
 */
export function createComparison(
  domains: Domain[],
  controls: Domain[],
  baseline: Window,
  rule: HealthConfig,
  zone: TimeZone,
  service: StatusCounts,
): WaveQueries {
  const span = computeSpan(baseline.to, rule)
  const periodsPerPoint = computePeriodsPerPoint(baseline, rule.grain)
  let earlier: EarlierRequests | null = null
  const queryEarlier = async () => {
    const requests = createEarlierRequests(createSampleCount(rule.statuses))
    await service.list([...domains, ...controls], span, (domain, points) =>
      requests.add(domain, points),
    )
    return requests
  }
  const count = async (window: Window): Promise<CountedWindow> => {
    // A query that is repeated begins a new curve.
    const curve = createCurve(window, periodsPerPoint, rule, zone)
    const counts = await service.count(domains, window, (points) => curve.add(points))
    return { window, counts, curve: curve.list() }
  }
  return {
    count,
    compare: async (before, window) => {
      const after = await count(window)
      const health = judgeWave(before.counts, after.counts, rule)
      if (health.verdict !== 'worse') return { ...health, before, after }
      earlier ??= await queryEarlier()
      const variation = {
        windows: earlier.sum(span, window.to - window.from),
        controls: await service.count(controls, window),
      }
      return { ...judgeWave(before.counts, after.counts, rule, variation), before, after }
    },
  }
}
