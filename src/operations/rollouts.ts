import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Decided, ListedRollout } from '../model/listed-rollout.ts'
import type { Overview } from '../model/overview.ts'
import type { Decision, Rollout } from '../model/rollout.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { findItemsOnHold } from '../rollout/conflicts.ts'
import { abort, approve, pause } from '../rollout/decide.ts'
import { identifyStep } from '../rollout/identify-step.ts'
import { listRollout } from '../rollout/list-rollout.ts'
import { listRolloutDomains } from '../state/spans.ts'
import type { Store } from '../state/store.ts'
import { findAuthor } from './execute-plan.ts'
import { hashDesired } from './hash-desired.ts'
import { loadLocked } from './load-locked.ts'
import type { LockSelection } from './lock-selection.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Outside } from './outside.ts'
import type { Ports } from './ports.ts'
import { withLock, type LockRequest } from './with-lock.ts'

/** Lists the unfinished rollouts, first to last. */
export async function listRollouts(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<ListedRollout[]> {
  const { rollouts } = await loadRollouts(workspace, outside)
  return rollouts.map(({ listed }) => listed)
}

/**
 * Loads the recorded rollouts, first to last: unfinished ones, and those that put desired values on
 * hold.
 */
export async function loadRollouts(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<Pick<Overview, 'rollouts' | 'ended'>> {
  outside.onPhase?.({ name: 'loading-state' })
  const { store, locks } = await openState(workspace, outside)
  await store.load()
  const isLocked = async (rollout: Rollout) => {
    const scope = { workspace: workspace.config.id, domains: listRolloutDomains(rollout) }
    return (await locks.listHolders(scope)).length > 0
  }
  const recorded = await store.listRollouts()
  const rollouts = await Promise.all(
    recorded.filter(isUnfinished).map(async (rollout) => {
      const listed = listRollout(rollout, await isLocked(rollout))
      return { listed, rollout, step: identifyStep(rollout) }
    }),
  )
  const onHold = findItemsOnHold(recorded, hashDesired(workspace).hashItem)
  const holding = new Set([...onHold.values()].flatMap((items) => [...items.values()]))
  return { rollouts, ended: recorded.filter((each) => !isUnfinished(each) && holding.has(each)) }
}

/** Returns whether a rollout is recorded: an unfinished one, or one that puts values on hold. */
export async function hasRollout(
  workspace: LoadedWorkspace,
  id: string,
  outside: Outside,
): Promise<boolean> {
  const { store } = await openState(workspace, outside)
  await store.load()
  return (await store.listRollouts()).some((rollout) => rollout.id === id)
}

/** Selects the domains of a rollout to lock. */
function lockRollout(id: string): LockSelection {
  return async (store) => {
    const rollout = (await store.listRollouts()).find((each) => each.id === id)
    return rollout === undefined ? [] : listRolloutDomains(rollout)
  }
}

/** A rollout to decide about. */
export interface RolloutRequest extends LockRequest {
  /** Id of the rollout. */
  rollout: string
  /** Step that the decision is about, by `identifyStep`; absent: the current one. */
  step?: string
}

/**
 * Locks, and approves the wave that a rollout waits for, or resumes a paused rollout. The next
 * apply of the same manifests continues it.
 *
 * @throws EdgewiseError `usage` when there is no such rollout, or when it does not wait
 */
export function approveRollout(
  workspace: LoadedWorkspace,
  request: RolloutRequest,
  ports: Ports,
): Promise<Decided> {
  return decide(workspace, 'rollout approve', request, approve, ports)
}

/**
 * Locks, and pauses a rollout: no further wave begins, also in a process that runs it.
 *
 * @throws EdgewiseError `usage` when there is no such rollout, or no further wave
 */
export function pauseRollout(
  workspace: LoadedWorkspace,
  request: RolloutRequest,
  ports: Ports,
): Promise<Decided> {
  return decide(workspace, 'rollout pause', request, pause, ports)
}

/**
 * Locks, and ends a rollout in its current state: what was sent stays, and the rest is on hold.
 *
 * @throws EdgewiseError `usage` when there is no such rollout
 */
export function abortRollout(
  workspace: LoadedWorkspace,
  request: RolloutRequest,
  ports: Ports,
): Promise<Decided> {
  return decide(workspace, 'rollout abort', request, abort, ports)
}

async function decide(
  workspace: LoadedWorkspace,
  reason: string,
  { rollout: id, step, ...request }: RolloutRequest,
  change: (rollout: Rollout, by: Decision) => Decided,
  ports: Ports,
): Promise<Decided> {
  const { outside, dialogue } = ports
  return withLock(workspace, reason, lockRollout(id), request, ports, async ({ store }) => {
    await loadLocked(store, dialogue)
    const rollout = findOpen(await store.listRollouts(), id)
    if (step !== undefined && step !== identifyStep(rollout)) throw createMovedError(id)
    const at = new Date(outside.clock.now()).toISOString()
    const decided = change(rollout, { author: findAuthor(outside), at })
    if (decided.rollout !== rollout) await save(decided, store)
    return decided
  })
}

/** Saves a decided rollout. One that has ended is only kept while it puts values on hold. */
async function save({ rollout, verb }: Decided, store: Store): Promise<void> {
  const message = `Rollout ${rollout.id}: ${verb}`
  if (rollout.state === 'open' || Object.keys(rollout.onHold).length > 0)
    await store.saveRollout(rollout, message)
  else await store.deleteRollouts([rollout.id], message)
}

function createMovedError(id: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `rollout ${escapeInvisible(id)} is no longer as it was shown: it has moved on, or somebody ` +
      'else has decided about it',
    'Nothing was decided. Look at it again.',
  )
}

function findOpen(rollouts: Rollout[], id: string): Rollout {
  const rollout = rollouts.find((each) => each.id === id)
  const name = escapeInvisible(id)
  if (rollout === undefined)
    throw new EdgewiseError(
      'usage',
      `there is no open rollout "${name}"`,
      '"edgewise rollout list" lists the unfinished rollouts.',
    )
  if (rollout.state === 'open') return rollout
  if (rollout.state === 'taking-back')
    throw new EdgewiseError(
      'rollback-unfinished',
      `the rollback of rollout ${name} is unfinished`,
      `Finish it with "edgewise rollback ${name}".`,
    )
  throw new EdgewiseError(
    'usage',
    `rollout ${name} has already ended: ${escapeInvisible(rollout.reason ?? '')}`,
    '"edgewise apply --retry-held" applies its changes that are on hold.',
  )
}

function isUnfinished({ state }: Rollout): boolean {
  return state === 'open' || state === 'taking-back'
}
