import { createSampleCount } from '../health/count-sample.ts'
import {
  computeSpan,
  createEarlierRequests,
  type EarlierRequests,
} from '../health/earlier-windows.ts'
import { judgeWave } from '../health/judge.ts'
import type { HealthConfig } from '../model/config.ts'
import type { DomainCounts, WaveHealth, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { StatusCounts } from './ports.ts'

/** Compares the requests of a wave in a window with its baseline. */
type CompareWindow = (before: DomainCounts, window: Window) => Promise<WaveHealth>

/**
 * Creates the comparison of a wave. The statistics of some days before the wave, and those of the
 * controls, are queried only for a rise, and the former once.
 *
 * @param controls domains that did not change
 * @param end end of the baseline, ms since 1970
 * @returns a function that throws the errors of queries
 */
export function createComparison(
  domains: Domain[],
  controls: Domain[],
  end: number,
  rule: HealthConfig,
  service: StatusCounts,
): CompareWindow {
  const span = computeSpan(end, rule)
  let earlier: EarlierRequests | null = null
  const queryEarlier = async () => {
    const requests = createEarlierRequests(createSampleCount(rule.statuses))
    await service.list([...domains, ...controls], span, (domain, points) =>
      requests.add(domain, points),
    )
    return requests
  }
  return async (before, window) => {
    const after = await service.count(domains, window)
    const health = judgeWave(before, after, rule)
    if (health.verdict !== 'worse') return health
    earlier ??= await queryEarlier()
    return judgeWave(before, after, rule, {
      windows: earlier.sum(span, window.to - window.from),
      controls: await service.count(controls, window),
    })
  }
}
