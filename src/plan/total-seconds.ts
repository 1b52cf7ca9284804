import type { Write } from '../model/change.ts'
import type { Burst, RolloutConfig } from '../model/config.ts'
import { groupBy } from '../model/group-by.ts'
import { grainMs } from '../model/statistics.ts'

/** Limits of calls and waits of a rollout, which determine how long a plan takes. */
export interface Pacing {
  callsPerMinute: number
  burst?: Burst | null
  /** Pause and health check of the waves; null if the plan is applied at once. */
  rollout?: Pick<RolloutConfig, 'pause' | 'health'> | null
}

/**
 * Computes the minimum time of a plan, seconds: its calls within the limits, then for each wave the
 * health check, and before the next one at least the pause. Waits for approval are not counted.
 *
 * @param earlier ends of calls that still count, seconds, ascending; now is 0
 */
export function computeTotalSeconds(
  writes: Write[],
  { callsPerMinute, burst = null, rollout = null }: Pacing,
  earlier: number[] = [],
): number {
  if (writes.length === 0) return 0
  const healthSeconds = rollout?.health == null ? 0 : computeHealthSeconds(rollout.health)
  const gap = Math.max(rollout?.pause ?? 0, healthSeconds)
  const calls = [...earlier]
  let end = -gap
  for (const [, own] of groupBy(writes, ({ wave }) => wave)) {
    const start = end + gap
    for (const _ of own) {
      const afterMinute = (calls.at(-callsPerMinute) ?? -60) + 60
      const afterBurst = burst === null ? 0 : (calls.at(-burst.calls) ?? -60) + burst.seconds
      end = Math.max(start, afterMinute, afterBurst)
      calls.push(end)
    }
  }
  return end + healthSeconds
}

function computeHealthSeconds({
  settle,
  window,
  lag,
  grain,
}: NonNullable<RolloutConfig['health']>) {
  const period = grainMs[grain] / 1000
  return settle + Math.max(1, Math.ceil(window / period)) * period + lag
}
