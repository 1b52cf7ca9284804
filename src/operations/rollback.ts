import type { Checkout, Comparable, Findings } from './runtime/parts.ts'
import { isConditional, nameChange } from '../core/model/change.ts'
import { diffSnapshots } from '../core/diff/diff-snapshots.ts'
import { EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import { inSpan } from '../core/model/telemetry.ts'
import { listSome } from '../core/model/text/words.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import { findItemsOnHold } from '../engine/rollout/conflicts.ts'
import type {
  RecordedState,
  HistoryReader,
  StateWriter,
  RolloutStore,
} from '../state/store/store.ts'
import { listChangedDomains, rollbackSuffix } from './submission/find-change.ts'
import { compareWritten } from './observation/compare-written.ts'
import { restrain } from './policies/restrain.ts'
import type { GuardRequest } from './submission/guards.ts'
import { createApplyId } from './submission/execute-plan.ts'
import { hashDesired } from './submission/hash-desired.ts'
import { holdRolledBack } from './submission/rollout-decisions.ts'
import { lockTargets } from './runtime/lock-selection.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { selectSnapshots } from './submission/make-plan.ts'
import { planRollback, removeUnmanaged, type Rollback } from './history/plan-rollback.ts'
import type { Dialogue, Ports } from './runtime/ports.ts'
import { refuseRollbackElsewhere } from './submission/refuse-owned-elsewhere.ts'
import { refuseUnknownItems, type SelectionRequest } from './submission/select.ts'
import type { Executed } from './submission/executed.ts'
import { submitPlan } from './submission/submit-plan.ts'
import type { EffectsRequest } from './tracing/effects.ts'
import { hasErrors } from './runtime/refuse-invalid.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'

/** Options of a rollback. */
export interface RollbackRequest extends SelectionRequest, GuardRequest, LockRequest {
  /**
   * Id of an apply, or of a rollout with all of its waves; absent: the last one that changed
   * something.
   */
  apply?: string
  /** Requests that are compared before and after the rollback. */
  effects?: EffectsRequest | null
}

/** Result of a rollback. */
export interface RolledBackApply extends Executed {
  rollback: Rollback
  /** Number of rolled-back items that the next apply would change again. */
  stillDesired: number
  /** The one commit that made the rolled-back change; null if there is not exactly one. */
  changedBy: string | null
  /** Number of rolled-back items that the manifests would change again, but that are on hold. */
  onHold: number
}

/**
 * Locks, plans the rollback, shows it, asks, and executes it. The manifests need not be valid: the
 * target is in recorded state.
 *
 * @throws EdgewiseError when nothing was sent; unconfirmed writes are in the result
 */
export async function rollback(
  loaded: LoadedWorkspace,
  request: RollbackRequest,
  ports: Ports,
): Promise<RolledBackApply> {
  const { apply: name = null, target = [], items = [], allow } = request
  // Which apply is the last one depends on all of them.
  const selection =
    name === null
      ? 'workspace'
      : lockTargets(loaded, request, (store) => listChangedDomains(store, name))
  const purpose = { reason: 'rollback', selection }
  return withState(loaded, purpose, request, ports, async (locked, recorded) => {
    const [{ store }, workspace] = [locked, await restrain(loaded, locked.store)]
    refuseUnknownItems(items)
    const rolloutId = target.length + items.length === 0 ? name : null
    const make = (base: RecordedState) =>
      planRollback(workspace, store, base, { target, items }, name, ports.outside)
    const planned = await inSpan('plan', () => make(recorded)).catch(async (error: unknown) => {
      // Nothing else can be rolled back.
      if (error instanceof EdgewiseError && error.code === 'irreversible')
        await finishRollingBack(store, rolloutId)
      throw error
    })
    const observed = await compareWritten(workspace, planned.plan, recorded, ports.outside, allow)
    const base = new Map([...recorded, ...observed])
    const found = observed.size === 0 ? planned : await make(base)
    await refuseRollbackElsewhere(store, found.plan)
    await showRollback(workspace, base, found, request, ports.dialogue)
    const id = createOnce(() => createApplyId(ports.outside, rollbackSuffix))
    const executed = await submitPlan(
      workspace,
      found.plan,
      {
        ...request,
        title: 'Rollback',
        locked,
        recorded: base,
        observed,
        waves: false, // The target state was live before.
        asks: true,
        takesBack: (await findRollingBack(store, rolloutId))?.reason ?? null,
        id,
        beforeSending: () =>
          holdRolledBack(store, base, found.plan, { id: id(), rollout: rolloutId }, ports.outside),
      },
      ports,
    )
    const stateNow = await dropUnmanaged(ports.dialogue, store, executed.result.recorded, found)
    if (executed.status === 'done') await finishRollingBack(store, rolloutId)
    return {
      ...executed,
      rollback: found,
      changedBy: await findChangingCommit(workspace, store, found),
      ...(await countStillDesired(workspace, stateNow, found, store)),
    }
  })
}

/** Shows a rollback, and what it does to sample requests. */
async function showRollback(
  workspace: Comparable,
  recorded: RecordedState,
  found: Rollback,
  { effects: request = null }: RollbackRequest,
  dialogue: Dialogue,
): Promise<void> {
  await dialogue.show({ kind: 'rollback', rollback: found })
  if (request === null) return
  const { findEffects } = await import('./tracing/effects.ts')
  const effects = findEffects(workspace, recorded, found.plan.changes, request)
  await dialogue.show({ kind: 'effects', effects })
}

/** Finds the one commit that changed the manifests between the applies before and these ones. */
async function findChangingCommit(
  workspace: Checkout,
  store: HistoryReader,
  { applies }: Rollback,
): Promise<string | null> {
  const last = applies.at(-1)?.commit ?? null
  const history = await store.listApplies()
  const earlier = history.slice(
    0,
    history.findIndex(({ id }) => id === applies[0]?.id),
  )
  const before = earlier.findLast(({ commit, onTopOf }) => (commit ?? onTopOf) !== undefined)
  return last === null ? null : workspace.findOnlyChange(before?.commit ?? null, last)
}

/** Returns a function that creates something at its first call, and returns it from then on. */
function createOnce(create: () => string): () => string {
  let created: string | null = null
  return () => (created ??= create())
}

/** Removes items from state that were not in it before and are unset now. Returns the new state. */
async function dropUnmanaged(
  dialogue: Dialogue,
  store: StateWriter,
  recorded: RecordedState,
  found: Rollback,
): Promise<RecordedState> {
  const left = removeUnmanaged(found, recorded)
  if (left.size === 0) return recorded
  try {
    await store.save(
      left,
      `Rollback: removed items that were unrecorded before (${listSome([...left.keys()])})`,
    )
    return new Map([...recorded, ...left])
  } catch (error) {
    throwDefect(error)
    dialogue.note(
      `Items that were unrecorded before stay recorded as unset ` +
        `(${escapeInvisible(error.message)}); the next apply releases them.`,
    )
    return recorded
  }
}

async function findRollingBack(store: RolloutStore, name: string | null) {
  const rollouts = await store.listRollouts()
  return rollouts.find(({ id, state }) => id === name && state === 'rolling-back')
}

/** Ends the rollout whose rollback by a health check is unfinished. */
async function finishRollingBack(store: RolloutStore, name: string | null): Promise<void> {
  const rollout = await findRollingBack(store, name)
  if (rollout !== undefined)
    await store.saveRollout(
      { ...rollout, state: 'rolled-back' },
      `Rollout ${rollout.id}: rolled back`,
    )
}

/** Counts rolled-back items that the manifests would change again. */
async function countStillDesired(
  workspace: Comparable & Findings,
  recorded: RecordedState,
  { plan }: Rollback,
  store: RolloutStore,
): Promise<Pick<RolledBackApply, 'stillDesired' | 'onHold'>> {
  const rolledBack = new Set(plan.changes.map(nameChange))
  if (hasErrors(workspace)) return { stillDesired: rolledBack.size, onHold: 0 }
  const snapshots = selectSnapshots(workspace, recorded, { target: [], items: [] })
  const { changes } = diffSnapshots(
    snapshots.recorded,
    snapshots.desired,
    workspace.config.service.itemKeys,
    workspace.config.service.unset,
  )
  const again = changes.filter(
    (change) => !isConditional(change) && rolledBack.has(`${change.domain} ${change.item}`),
  )
  const { hashItem } = hashDesired(workspace)
  const itemsOnHold = findItemsOnHold(await store.listRollouts(), hashItem)
  const onHold = again.filter(({ domain, item }) => itemsOnHold.get(domain)?.has(item)).length
  return { stillDesired: again.length - onHold, onHold }
}
