import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import type { Snapshot } from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { makePlan, type PlanInput } from '../../src/core/plan/make-plan.ts'

/** Plans from recorded to desired state, with the documented groups unless others are given. */
export function planSnapshots(
  recorded: Snapshot,
  desired: Snapshot,
  more: Partial<PlanInput> = {},
): Plan {
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired, more.itemKeys, more.deletes),
    grouping: { groups: 'documented', together: [] },
    limits: { domainsPerWrite: 10, callsPerMinute: 30 },
    target: [],
    items: [],
    commit: null,
    ...more,
  })
}
