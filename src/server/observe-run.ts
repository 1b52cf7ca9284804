import type { ServerMetrics } from '../metrics/server-metrics.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import type { Dialogue, Ports } from '../operations/ports.ts'

/**
 * Creates the ports of one run: those of the controller, which also record its metrics.
 *
 * @param id of the rollout, if it continues one
 */
export function observeRun(
  { outside, dialogue }: Ports,
  { config }: Pick<LoadedWorkspace, 'config'>,
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
  const startProgress: Dialogue['startProgress'] = async (extent) => {
    const progress = await dialogue.startProgress(extent)
    return {
      report: (event, callsLeft) => {
        metrics.recordEvent(event, id)
        if (callsLeft !== null) metrics.setBudget(callsLeft, config.limits.callsPerMinute)
        progress.report(event, callsLeft)
      },
      end: () => progress.end(),
    }
  }
  return { outside: { ...outside, onPhase }, dialogue: { ...dialogue, startProgress } }
}
