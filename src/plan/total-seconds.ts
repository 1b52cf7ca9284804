import type { Write } from '../model/change.ts'
import type { Burst, RolloutConfig } from '../model/config.ts'
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
 */
export function computeTotalSeconds(writes: Write[], pacing: Pacing): number {
  const { rollout = null } = pacing
  const sending = computeSendSeconds(writes.length, pacing)
  if (rollout === null || writes.length === 0) return sending
  const waves = new Set(writes.map(({ wave }) => wave)).size
  const healthSeconds = rollout.health === null ? 0 : computeHealthSeconds(rollout.health)
  return sending + (waves - 1) * Math.max(rollout.pause, healthSeconds) + healthSeconds
}

/** Computes when the last of so many calls can be sent, if each is answered at once, seconds. */
function computeSendSeconds(calls: number, { callsPerMinute, burst = null }: Pacing): number {
  const sentAt: number[] = []
  for (let i = 0; i < calls; i++) {
    const afterMinute = (sentAt[i - callsPerMinute] ?? -60) + 60
    const afterBurst = burst === null ? 0 : (sentAt[i - burst.calls] ?? -60) + burst.seconds
    sentAt.push(Math.max(0, afterMinute, afterBurst))
  }
  return sentAt.at(-1) ?? 0
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
