import type { Write } from '../model/change.ts'
import type { PlanTimes } from '../model/plan.ts'
import { computeTimes } from '../plan/total-seconds.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** Computes when writes are sent at the earliest. `atOnce`: without the waits of a rollout. */
export function computePlanTimes(
  writes: Write[],
  { config }: Pick<LoadedWorkspace, 'config'>,
  atOnce: boolean,
): PlanTimes {
  return computeTimes(writes, { ...config.limits, rollout: atOnce ? null : config.rollout })
}
