import type { Comparable } from './runtime/parts.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { pluralize, listSome } from '../core/model/text/words.ts'
import { findItemsOnHold } from '../engine/rollout/conflicts.ts'
import { observe, type DriftRequest } from './drift.ts'
import {
  buildRepairBase,
  findDrift,
  narrowDrift,
  type FoundDrift,
  refuseUnobserved,
} from './observation/find-drift.ts'
import { restrain } from './policies/restrain.ts'
import type { GuardRequest } from './submission/guards.ts'
import { hashDesired } from './submission/hash-desired.ts'
import { lockTargets } from './runtime/lock-selection.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { makePlan, type PlanOptions, selectSnapshots } from './submission/make-plan.ts'
import type { Ports } from './runtime/ports.ts'
import { refuseEmpty, refuseInvalid } from './runtime/refuse-invalid.ts'
import { refuseUnfinishedRollback } from './submission/rollout-decisions.ts'
import { select } from './submission/select.ts'
import type { Executed } from './submission/executed.ts'
import { submitPlan } from './submission/submit-plan.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { diffSnapshots } from '../core/diff/diff-snapshots.ts'
import { nameChange, type Change } from '../core/model/change.ts'
import type { Drift } from '../core/model/drift.ts'
import { groupBy } from '../core/model/lists.ts'
import { findNeeded, type Needed } from '../core/plan/find-needed.ts'
import type { Rollout } from '../core/model/rollout.ts'
import type { RecordedState } from '../state/store/store.ts'

/** Options of a repair. */
export type RepairRequest = DriftRequest &
  GuardRequest &
  LockRequest & {
    /** Also write pending and in-doubt items. Default: only items that drifted at the service. */
    includePending?: boolean
    /**
     * End where a rollout has to wait for some time: `result.waitMs` has how long. The next apply
     * of the same manifests resumes it.
     */
    suspends?: boolean
  }

/**
 * Locks, shows the drift, plans the drifted items from the observed state, and applies that plan
 * like any other.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function repair(
  loaded: LoadedWorkspace,
  request: RepairRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  refuseInvalid(loaded)
  refuseEmpty(loaded)
  const { includePending = false } = request
  if (request.observe === undefined && !includePending)
    throw new EdgewiseError(
      'usage',
      'nothing was observed, so it is not known which items drifted; nothing was sent',
      'Pass --observed or --live. "edgewise apply" applies pending items.',
    )
  const selected = lockTargets(loaded, request)
  const purpose = { reason: 'drift --repair', selection: selected, renames: true }
  return withState(loaded, purpose, request, ports, async (locked, recorded) => {
    const [{ store }, workspace] = [locked, await restrain(loaded, locked.store)]
    const selection = select(request, workspace, recorded)
    // The observed values are recorded before the plan is made of them.
    workspace.vault.keepSalt()
    const observed = await observe(request, { workspace, recorded, selection }, outside)
    outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
    const rollouts = await store.listRollouts()
    const all = findDrift(workspace, recorded, observed, rollouts)
    const found = narrowDrift(all, selection)
    if (observed !== null) refuseUnobserved(found, workspace)
    const at = outside.clock.now()
    await dialogue.show({ kind: 'drift', found, at })
    if (!includePending) for (const text of describeLeftOut(found.drift)) dialogue.note(text)
    await refuseUnfinishedRollback(store)

    const addObserved = (drifted: FoundDrift): RecordedState =>
      buildRepairBase(drifted, recorded, workspace, new Date(at).toISOString())
    const added = addObserved(found)
    const base = new Map([...recorded, ...added])
    const isPlanned = createRepairTest(found.drift, includePending)
    refuseLeftOut(workspace, new Map([...recorded, ...addObserved(all)]), all, rollouts, isPlanned)
    const traffic = await store.loadTraffic()
    const options = { rollouts, traffic, isPlanned: includePending ? undefined : isPlanned }
    const make = (own: PlanOptions) => makePlan(workspace, base, selection, own, outside)
    const own = { title: 'Repair', locked, recorded: base, observed: added, waves: true } as const
    const executed = await submitPlan(
      workspace,
      await make(options),
      {
        ...request,
        ...own,
        asks: true,
        isPart: !includePending,
        remake: (differs) => make({ ...options, differs }),
      },
      ports,
    )
    // What the service does not have could not be repaired.
    const isLeft = found.drift.unanswered !== undefined && executed.status === 'done'
    return isLeft ? { ...executed, status: 'incomplete' } : executed
  })
}

/**
 * Refuses a repair that leaves out an item that another one needs; items on hold are not sent.
 *
 * @throws EdgewiseError `usage`
 */
function refuseLeftOut(
  workspace: Comparable,
  base: RecordedState,
  { drift }: FoundDrift,
  rollouts: Rollout[],
  isRepaired: ReturnType<typeof createRepairTest>,
): void {
  const onHold = findItemsOnHold(rollouts, hashDesired(workspace).hashItem)
  const isSent = (change: Change) =>
    isRepaired(change) && onHold.get(change.domain)?.has(change.item) !== true
  refuseNeeded(workspace, base, drift, isSent)
}

/**
 * Creates a test for the items that a repair of this drift writes: those whose observed value
 * differs from the recorded one, or all.
 */
export function createRepairTest(
  { items }: Drift,
  includesPending: boolean,
): (named: Parameters<typeof nameChange>[0]) => boolean {
  const repaired = items.filter(({ kinds }) => includesPending || kinds.includes('live'))
  const keys = new Set(repaired.map(nameChange))
  return (named) => keys.has(nameChange(named))
}

/** Describes the differences that a repair of drifted items leaves out. */
export function describeLeftOut({ items }: Drift): string[] {
  const others = items.filter(({ kinds, held }) => !kinds.includes('live') && !held)
  const inDoubt = others.filter(
    ({ confidence, recordedAt }) => confidence === 'in-doubt' && recordedAt !== null,
  )
  const pending = others.filter((each) => each.kinds.includes('pending') && !inDoubt.includes(each))
  return [describeRest(pending.length, 'pending'), describeRest(inDoubt.length, 'in-doubt')].flat()
}

function describeRest(count: number, kind: string): string[] {
  if (count === 0) return []
  const [were, them] = count === 1 ? ['was', 'it'] : ['were', 'them']
  return [
    `${pluralize(count, `${kind} item`)} ${were} left out: "edgewise apply" applies ${them}, and ` +
      `--include-pending includes ${them} here.`,
  ]
}

/**
 * Refuses a repair of items that need other items with them.
 *
 * @param base state with all observed values
 * @param isRepaired whether the repair makes a change
 * @throws EdgewiseError `usage`
 */
export function refuseNeeded(
  workspace: Comparable,
  base: RecordedState,
  { items }: Drift,
  isRepaired: (change: Change) => boolean,
): void {
  const { recorded, desired } = selectSnapshots(workspace, base, { target: [], items: [] })
  const byKey = new Map(items.map((each) => [nameChange(each), each]))
  const { grouping, service } = workspace.config
  const found = findNeeded(
    diffSnapshots(recorded, desired, service.itemKeys, service.unset).changes,
    {
      isPlanned: isRepaired,
      isApplied: (change) =>
        byKey.get(nameChange(change))?.kinds.some((kind) => kind !== 'live') !== true,
      isUntouched: (change) => {
        const { kinds = [], confidence } = byKey.get(nameChange(change)) ?? {}
        return !kinds.includes('live') && confidence !== 'in-doubt'
      },
      together: grouping.together,
    },
  )
  if (found.length === 0) return
  throw new EdgewiseError(
    'usage',
    `the repair would be incomplete; nothing was sent: ${describeNeeded(found).join('; ')}`,
    'Pass --include-pending to include pending items, name the other items with --item, or ' +
      'select other domains with --target.',
  )
}

const reasons: Record<Needed['reason'], string> = {
  emptied: 'one empties the other',
  together: 'grouping.together',
}

function describeNeeded(found: Needed[]): string[] {
  const groups = groupBy(found, ({ planned, other, reason }) =>
    [planned.item, other.item, reason].join(' '),
  )
  return [...groups.values()].map((same) => {
    const [{ planned, other, reason }] = same
    const domains = listSome(same.map((each) => each.planned.domain))
    return (
      `${planned.item} of ${domains} needs ${other.item} with it ` +
      `(${reasons[reason]}), which is left out`
    )
  })
}
