import type { Configured } from '../../operations/runtime/workspace-parts.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import type { EventListener, Ports } from '../../operations/runtime/ports.ts'

/**
 * Creates the ports of one run: those of the controller, which also record its metrics.
 *
 * @param id of the rollout, if it continues one
 */
export function observeRun(
  { outside, listeners = [], ...ports }: Ports,
  { config }: Configured,
  metrics: ServerMetrics,
  id?: string,
): Ports {
  const { clock } = outside
  let lockingMs: number | null = null
  const onPhase: Outside['onPhase'] = (phase) => {
    if (phase.name === 'locking') lockingMs = clock.monotonic()
    else if (lockingMs !== null) {
      metrics.recordLockWait((clock.monotonic() - lockingMs) / 1000)
      lockingMs = null
    }
    outside.onPhase?.(phase)
  }
  const measure: EventListener = (event, callsLeft) => {
    metrics.recordEvent(event, id)
    if (callsLeft !== null) metrics.setBudget(callsLeft, config.limits.callsPerMinute)
  }
  return { ...ports, outside: { ...outside, onPhase }, listeners: [measure, ...listeners] }
}
