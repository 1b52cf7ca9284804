import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Actor } from '../../core/model/people/identity.ts'
import type { Action } from '../../core/model/people/roles.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import type { Logger } from '../logger.ts'

/** Records attempts that were refused. */
export type RefusalLog = ReturnType<typeof createRefusalLog>

/** Creates what records attempts that were refused: in the log, and as a metric. */
export function createRefusalLog(
  logger: Pick<Logger, 'warn'>,
  metrics: Pick<ServerMetrics, 'countDenied'>,
) {
  /** @param rollout id of the rollout that it was about; null for none */
  const record = (
    identity: Actor,
    action: Action | 'other',
    rollout: string | null,
    reason: string,
  ): void => {
    const { name, knownBy } = identity
    metrics.countDenied(action, knownBy)
    logger.warn('action refused', { action, by: name, knownBy, rollout, reason })
  }
  return {
    record,
    /** Does what was asked for, and records it if it was not allowed. */
    note: async <T>(
      identity: Actor,
      action: Action,
      rollout: string | null,
      work: () => Promise<T>,
    ): Promise<T> => {
      try {
        return await work()
      } catch (error) {
        if (error instanceof EdgewiseError && error.code === 'not-allowed')
          record(identity, action, rollout, error.message)
        throw error
      }
    },
  }
}
