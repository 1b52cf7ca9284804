import { actions, type Action } from '../../core/model/people/roles.ts'
import { openState } from '../../operations/runtime/open-state.ts'
import type { StateOutside, Settings } from '../../operations/runtime/parts.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import { logFailure, type Logger } from '../logger.ts'
import { createRefusalLog } from '../people/refusal-log.ts'

/**
 * Creates what counts the entries that all processes add to the history, from the first call on.
 * Refused commands are logged and counted as attempts over HTTP are. A failure is only logged: the
 * next call counts then.
 */
export function createActCounter(
  outside: StateOutside,
  metrics: Pick<ServerMetrics, 'countAct' | 'countDenied'>,
  logger: Pick<Logger, 'warn' | 'debug'>,
) {
  const refusals = createRefusalLog(logger, metrics)
  let seen: number | null = null
  const count = async (settings: Settings): Promise<void> => {
    const { store } = await openState(settings, outside)
    const { newest, entries } = await store.chain.loadSince(seen)
    seen = newest
    for (const { kind, about, by, outcome } of entries) {
      metrics.countAct(kind, by.knownBy)
      if (kind !== 'refusal') continue
      const [word, rollout = null] = about.split(' ', 2)
      const action = actions.find((each: Action) => each === word) ?? 'other'
      refusals.record(by, action, action === 'other' ? null : rollout, outcome)
    }
  }
  return (settings: Settings): Promise<void> =>
    count(settings).catch(logFailure(logger.debug, 'history not read'))
}
