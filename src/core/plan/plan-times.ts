import type { Write } from '../model/change.ts'
import type { Burst, RolloutConfig } from '../model/config.ts'
import { groupBy } from '../model/lists.ts'
import type { PlanTimes, WaveTimes } from '../model/plan.ts'
import { grainMs } from '../model/statistics.ts'

/** Limits of calls and waits of a rollout, which determine how long a plan takes. */
export interface Pacing {
  callsPerMinute: number
  burst?: Burst | null
  /** Pause and health check of the waves; null if the plan is applied at once. */
  rollout?: Pick<RolloutConfig, 'pause' | 'health'> | null
}

/**
 * Computes the earliest times of the writes and waves of a plan, seconds: its calls within the
 * limits, then for each wave the health check, and before the next one at least the pause. Waits
 * for approval are not counted.
 */
export function computeTimes(
  writes: Write[],
  { callsPerMinute, burst = null, rollout = null }: Pacing,
): PlanTimes {
  const healthSeconds = rollout?.health == null ? 0 : computeHealthSeconds(rollout.health)
  const gap = Math.max(rollout?.pause ?? 0, healthSeconds)
  const calls: number[] = []
  const times = new Map<Write, number>()
  const waves: WaveTimes[] = []
  let start = 0
  for (const [wave, own] of groupBy(writes, (write) => write.wave)) {
    let [from, to] = [Infinity, start]
    for (const write of own) {
      const afterMinute = (calls.at(-callsPerMinute) ?? -60) + 60
      const afterBurst = burst === null ? 0 : (calls.at(-burst.calls) ?? -60) + burst.seconds
      to = Math.max(start, afterMinute, afterBurst)
      from = Math.min(from, to)
      calls.push(to)
      times.set(write, to)
    }
    waves.push({ wave, from, to, waitSeconds: gap })
    start = to + gap
  }
  const last = waves.at(-1)
  if (last !== undefined) last.waitSeconds = healthSeconds
  return {
    writes: writes.map((write) => times.get(write) ?? 0),
    waves,
    total: last === undefined ? 0 : last.to + healthSeconds,
  }
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
