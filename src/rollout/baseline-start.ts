import type { Domain } from '../model/item.ts'
import { grainMs } from '../model/statistics.ts'
import type { RecordedState } from '../state/store.ts'
import type { HealthConfig } from '../model/config.ts'

/**
 * When the domains of a wave will have been left alone long enough to be compared with, ms since
 * 1970: what was written to them in the window before the wave, or shortly before that, may be what
 * made them as they were. A change that was taken back minutes ago would pass for the usual.
 */
export function findBaselineStart(
  domains: Domain[],
  recorded: RecordedState,
  now: number,
  rule: HealthConfig,
): number {
  const written = domains.flatMap((domain) =>
    [...(recorded.get(domain)?.values() ?? [])].flatMap(({ origin, at }) =>
      origin === 'write' ? [Math.min(now, Date.parse(at))] : [],
    ),
  )
  const last = written.reduce((latest, each) => Math.max(latest, each), -Infinity)
  // Windows are whole periods, and end at the beginning of one.
  const periods = Math.max(1, Math.ceil((rule.window * 1000) / grainMs[rule.grain])) + 1
  return Math.max(now, last + rule.settle * 1000 + periods * grainMs[rule.grain])
}
