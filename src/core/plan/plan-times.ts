import { computeLength } from '../health/windows.ts'
import type { Write } from '../model/change.ts'
import type { Burst, RolloutConfig } from '../model/config.ts'
import { groupBy } from '../model/lists.ts'
import type { PlanTimes, WaveTimes } from '../model/plan.ts'

/** Limits of calls and waits of a rollout, which determine how long a plan takes. */
export interface Pacing {
  callsPerMinute: number
  burst?: Burst | null
  /** Pause and health check of the waves; null if the plan is applied at once. */
  rollout?: Pick<RolloutConfig, 'pause' | 'health'> | null
}

/**
 * Computes the earliest times of the writes and waves of a plan, seconds: its calls within the
 * limits, then for each wave the health check, which lasts a window longer before the second one,
 * and before the next one at least the pause. Waits for approval are not counted.
 */
export function computeTimes(
  writes: Write[],
  { callsPerMinute, burst = null, rollout = null }: Pacing,
): PlanTimes {
  const health = rollout?.health ?? null
  const check = (windows: number) =>
    health === null ? 0 : health.settle + (windows * computeLength(health)) / 1000 + health.lag
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
    const gap = Math.max(rollout?.pause ?? 0, check(waves.length === 0 ? 2 : 1))
    waves.push({ wave, from, to, waitSeconds: gap })
    start = to + gap
  }
  const last = waves.at(-1)
  if (last !== undefined) last.waitSeconds = check(1)
  return {
    writes: writes.map((write) => times.get(write) ?? 0),
    waves,
    total: last === undefined ? 0 : last.to + last.waitSeconds,
  }
}
