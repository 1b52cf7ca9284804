import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { rollbackSuffix } from './find-change.ts'
import type { GuardRequest } from './guards.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { selectSnapshots } from './make-plan.ts'
import { planRollback, removeUnmanaged, type Rollback } from './plan-rollback.ts'
import type { Dialogue, Ports } from './ports.ts'
import { refuseUnknownItems } from './refuse-unknown-items.ts'
import type { SelectionRequest } from './select.ts'
import { submitPlan, type Executed } from './submit-plan.ts'
import { withLock } from './with-lock.ts'

/** What a rollback is asked for. */
export interface RollbackRequest extends SelectionRequest, GuardRequest {
  /**
   * Id of the apply, or of a rollout for all of its waves; absent: the last one that changed
   * something.
   */
  apply?: string
  /** Seconds to wait while another process holds the lock. */
  lockTimeout?: number
}

/** What came of a rollback. */
export interface RolledBackApply extends Executed {
  rollback: Rollback
  /** Items of the plan for which the manifests still ask what was rolled back. */
  stillDesired: number
}

/**
 * Locks, plans back to what was recorded before an apply, shows that, asks, and executes it. The
 * manifests need not be valid: what to go back to is found in state.
 *
 * @throws EdgewiseError when nothing was sent; what was sent and not confirmed is in the result
 */
export async function rollback(
  workspace: LoadedWorkspace,
  request: RollbackRequest,
  ports: Ports,
): Promise<RolledBackApply> {
  const { apply: name = null, target = [], items = [], lockTimeout = 0 } = request
  return withLock(workspace, 'rollback', lockTimeout, ports, async (locked) => {
    const { store } = locked
    const recorded = await store.load()
    refuseUnknownItems(items)
    const whole = target.length + items.length === 0 ? name : null
    const found = await planRollback(
      workspace,
      store,
      recorded,
      { target, items },
      name,
      ports.outside,
    ).catch(async (error: unknown) => {
      // Nothing else can be rolled back of it.
      if (error instanceof EdgewiseError && error.code === 'irreversible')
        await finishRollingBack(store, whole)
      throw error
    })
    ports.dialogue.show({ kind: 'rollback', rollback: found })
    const executed = await submitPlan(
      workspace,
      found.plan,
      // Everything was so before: the sooner the better.
      { ...request, locked, recorded, waves: false, asks: true, suffix: rollbackSuffix },
      ports,
    )
    const now = await dropUnmanaged(ports.dialogue, store, executed.result.recorded, found)
    if (executed.status === 'done') await finishRollingBack(store, whole)
    return { ...executed, rollback: found, stillDesired: countStillDesired(workspace, now, found) }
  })
}

/**
 * Takes items out of state that were not in it before; they are unset now. Returns what is recorded
 * then.
 */
async function dropUnmanaged(
  dialogue: Dialogue,
  store: Store,
  recorded: RecordedState,
  found: Rollback,
): Promise<RecordedState> {
  const left = removeUnmanaged(found, recorded)
  if (left.size === 0) return recorded
  try {
    await store.save(
      left,
      `Rollback: what was not recorded before is no longer recorded (${listSome([...left.keys()])})`,
    )
    return new Map([...recorded, ...left])
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    dialogue.note(
      `Items that were not recorded before stay recorded as unset (${escapeInvisible(error.message)}); the next apply releases them.`,
    )
    return recorded
  }
}

/** Ends the rollout that a health check could not roll back to the end. */
async function finishRollingBack(store: Store, name: string | null): Promise<void> {
  const rollout = (await store.listRollouts()).find(
    ({ id, state }) => id === name && state === 'taking-back',
  )
  if (rollout !== undefined)
    await store.saveRollout(
      { ...rollout, state: 'taken-back' },
      `Rollout ${rollout.id}: taken back`,
    )
}

/** The next apply carries out what the manifests say, whatever was rolled back. */
function countStillDesired(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  { plan }: Rollback,
): number {
  const rolledBack = new Set(plan.changes.map(({ domain, item }) => `${domain} ${item}`))
  if (workspace.diagnostics.some(({ severity }) => severity === 'error')) return rolledBack.size
  const snapshots = selectSnapshots(workspace, recorded, { target: [], items: [] })
  const { changes } = diffSnapshots(snapshots.recorded, snapshots.desired)
  return changes.filter(({ domain, item }) => rolledBack.has(`${domain} ${item}`)).length
}
