import type { Domain } from '../model/item.ts'
import { grainMs } from '../model/statistics.ts'
import type { RecordedState } from '../state/store.ts'
import type { HealthConfig } from '../model/config.ts'

/**
 * Finds the earliest time at which a wave has a baseline, ms since 1970. The baseline's window, and
 * a settling time before it, must be free of writes to the wave's domains: otherwise the effect of
 * a recent change, such as one that was just rolled back, would count as normal.
 */
export function findBaselineStart(
  domains: Domain[],
  recorded: RecordedState,
  now: number,
  rule: HealthConfig,
): number {
  const writtenMs = domains.flatMap((domain) =>
    [...(recorded.get(domain)?.values() ?? [])].flatMap(({ origin, at }) =>
      origin === 'write' ? [Math.min(now, Date.parse(at))] : [],
    ),
  )
  const lastWriteMs = writtenMs.reduce((latest, each) => Math.max(latest, each), -Infinity)
  // Windows are whole periods, and end at the beginning of a period.
  const periods = Math.max(1, Math.ceil((rule.window * 1000) / grainMs[rule.grain])) + 1
  return Math.max(now, lastWriteMs + rule.settle * 1000 + periods * grainMs[rule.grain])
}
