import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Snapshot } from '../model/item.ts'
import { parseJson } from '../model/json.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout } from '../model/rollout.ts'
import { hashDomains } from '../plan/basis.ts'
import {
  parseSavedPlan,
  refuseStale,
  refuseUnreviewed,
  type SavedPlan,
} from '../plan/saved-plan.ts'
import { buildPlanJson } from '../report/plan/json.ts'
import { findConflicts } from '../rollout/conflicts.ts'
import type { RecordedState } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { selectSnapshots, makePlan, type PlanOptions } from './make-plan.ts'
import type { Outside } from './outside.ts'
import type { SelectionRequest } from './select.ts'

/**
 * Plans again what a plan file is about, and refuses the file unless it says exactly the same.
 *
 * @param text the content of the file
 * @throws EdgewiseError `stale-plan`, `usage`
 */
export async function matchSavedPlan(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  text: string,
  { target = [], items = [], waves }: SelectionRequest & { waves: boolean },
  options: PlanOptions,
  outside: Outside,
): Promise<Plan> {
  if (target.length + items.length > 0)
    throw new EdgewiseError(
      'usage',
      'a saved plan has its own choice of domains and items',
      'Leave --target and --item out.',
    )
  const { itemKeys } = workspace.config.service
  const saved = parseSavedPlan(parseJson(text))
  // A plan is always made in waves, so that it can be compared; without waves the same writes go
  // out at once.
  const how: PlanOptions = { ...options, atOnce: false, effort: saved.effort }
  const now = await makePlan(workspace, recorded, saved.selection, how, outside)
  const snapshots = selectSnapshots(workspace, recorded, saved.selection)
  if (continues(saved, snapshots.desired, openRollout(now, how, workspace)))
    refuseUnreviewed(saved, now)
  else
    refuseStale(
      saved,
      now,
      buildPlanJson(now, (key) => itemKeys[key] ?? key),
      snapshots,
    )
  return waves ? now : { ...now, writes: now.writes.map((write) => ({ ...write, wave: 1 })) }
}

function openRollout(
  now: Plan,
  { rollouts = [] }: PlanOptions,
  workspace: LoadedWorkspace,
): Rollout | null {
  const domains = new Set(now.changes.map(({ domain }) => domain))
  return findConflicts(domains, now.basis, rollouts, hashDesired(workspace)).continued
}

/** Whether what the file planned is a rollout already, of which the rest is to be sent. */
function continues(
  { desired: planned }: SavedPlan,
  desired: Snapshot,
  open: Rollout | null,
): boolean {
  const domains = Object.keys(planned)
  if (open === null || Object.keys(open.asked).length !== domains.length) return false
  const is = hashDomains(desired, domains)
  return domains.every(
    (domain) => open.asked[domain] !== undefined && is[domain] === planned[domain],
  )
}
