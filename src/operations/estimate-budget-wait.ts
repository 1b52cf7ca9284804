import type { Write } from '../model/change.ts'
import { computeTotalSeconds } from '../plan/total-seconds.ts'
import { toUptimes } from '../state/format/calls.ts'
import type { Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'
import { loadRecentCalls, readClocks } from './recent-calls.ts'

/**
 * Estimates by how much the calls of the last minute delay these writes, seconds. Calls in flight
 * count as ended now.
 */
export async function estimateBudgetWait(
  writes: Write[],
  { config }: LoadedWorkspace,
  store: Store,
  outside: Outside,
): Promise<number> {
  if (writes.length === 0) return 0
  const { kept, others } = await loadRecentCalls(store, outside)
  const here = readClocks(outside)
  const { up } = here
  const earlier = [...toUptimes(kept, here), ...others]
    .flatMap(({ time, count }) =>
      Array.from({ length: count }, () => Math.min(0, (time - up) / 1000)),
    )
    .toSorted((a, b) => a - b)
  const pacing = { ...config.limits, rollout: config.rollout }
  const delay = computeTotalSeconds(writes, pacing, earlier) - computeTotalSeconds(writes, pacing)
  return Math.ceil(delay)
}
