import type { Configured, Desired, Outside } from '../runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Plan } from '../../core/model/plan.ts'
import {
  dropPause,
  findCurrentWave,
  type Rollout,
  type ItemHashes,
} from '../../core/model/rollout.ts'
import { narrowSnapshot } from '../../core/plan/selection.ts'
import { findStop, findUnapproved } from '../../engine/rollout/approvals.ts'
import {
  findConflicts,
  findItemsOnHold,
  isSuperseded,
  type HashItem,
  dropHolds,
  findUnfinished,
} from '../../engine/rollout/conflicts.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { RecordedState, RolloutStore } from '../../state/store/store.ts'
import { hashDesired, hashValue } from './hash-desired.ts'
import { createItemState } from '../../core/model/item.ts'
import { findAuthor } from './find-author.ts'

/** Rollout options of a plan. */
export interface WaveRequest {
  /** Roll out in waves; otherwise send all writes, without health checks. */
  waves: boolean
  /** Allow an apply without waves to complete an open rollout of the same desired state. */
  finishes?: boolean
  retryHeld?: boolean
  /** Id of the rollout that is judged again if all of its waves have passed. */
  looksBack?: string
  /** The plan has only a part of the changes of its selection, so it resumes no rollout. */
  isPart?: boolean
}

/** The open rollout that a plan resumes, and those that it ends, or that hold less then. */
export interface RolloutDecisions {
  continued: Rollout | null
  /** The open rollout that the apply completes, and those with fewer values on hold. */
  kept: Rollout[]
  /** Whether values on hold are sent again. */
  liftsHolds: boolean
}

/**
 * Decides which open rollout a plan resumes, which rollouts it ends, and which ones then have fewer
 * values on hold.
 *
 * @throws EdgewiseError `rollout-open` when the plan touches domains of an open rollout that it
 * does not resume, `guarded` when it would send a wave that needs approval without it
 */
export async function decideRollouts(
  workspace: Configured & Desired,
  store: RolloutStore,
  plan: Plan,
  { waves, finishes = false, retryHeld = false, isPart, looksBack }: WaveRequest,
): Promise<RolloutDecisions> {
  const rollouts = await store.listRollouts()
  const { hashDomain, hashItem } = hashDesired(workspace)
  const domains = new Set(plan.changes.map(({ domain }) => domain))
  const selection = { ...plan.basis, isPart, looksBack }
  const { continued, conflicting, passed } = findConflicts(domains, selection, rollouts, hashDomain)
  const own = continued !== null && (waves || finishes || domains.size === 0)
  const obstacles = [...conflicting, ...(continued === null || own ? [] : [continued])]
  if (obstacles.length > 0) throw createOpenRolloutError(obstacles)
  const lifted = retryHeld ? liftHolds(rollouts, plan.basis, hashItem) : []
  const { target } = plan.basis
  const superseded = rollouts.filter(
    (each) =>
      isSuperseded(each, hashDomain) &&
      (target.length === 0 || target.some((domain) => Object.hasOwn(each.desiredHashes, domain))),
  )
  const finished = own && !waves && domains.size > 0 ? [continued] : []
  if (!waves && finishes && plan.writes.length > 0) refuseBypass(workspace, finished[0] ?? null)
  const ended: Rollout[] = [
    ...passed.map((each) => ({ ...dropPause(each), state: 'complete' as const })),
    ...[...finished, ...superseded].map((each) => ({
      ...dropPause(each),
      state: 'stopped' as const,
      reason: 'another apply takes its place',
    })),
  ]
  return {
    continued: own && waves ? continued : null,
    kept: [...lifted.filter(({ id }) => !ended.some((each) => each.id === id)), ...ended],
    liftsHolds: lifted.length > 0,
  }
}

/**
 * Refuses to apply manifests while the rollback of a rollout is unfinished. Manifests and state can
 * be equal then although part of the bad change is live.
 *
 * @throws EdgewiseError `rollback-unfinished`
 */
export async function refuseUnfinishedRollback(store: RolloutStore): Promise<void> {
  const [rollout] = findUnfinished(await store.listRollouts())
  if (rollout === undefined) return
  const id = escapeInvisible(rollout.id)
  throw new EdgewiseError(
    'rollback-unfinished',
    `the rollback of rollout ${id} is unfinished (${escapeInvisible(rollout.reason ?? '')}): ` +
      'some of its changes are still live; nothing was sent',
    `Finish it with "edgewise rollback ${id}", or end it as it is with ` +
      `"edgewise rollout abort ${id}".`,
  )
}

/**
 * Lifts the holds of the selected items that have the value on hold; returns the rollouts that
 * change by that.
 */
function liftHolds(
  rollouts: Rollout[],
  selection: Pick<Plan['basis'], 'target' | 'items'>,
  hashItem: HashItem,
): Rollout[] {
  const onHold = findItemsOnHold(rollouts, hashItem)
  const lifted = narrowSnapshot(
    new Map([...onHold].map(([domain, items]) => [domain, new Map(items)])),
    selection,
  )
  return dropHolds(
    rollouts,
    (domain, item, value) =>
      lifted.get(domain)?.has(item) === true && hashItem(domain, item) === value,
  )
}

/**
 * Refuses to apply without waves what a wave may not send yet.
 *
 * @param finished the open rollout that the apply completes; null for a new one
 * @throws EdgewiseError `guarded`
 */
function refuseBypass({ config }: Configured, finished: Rollout | null): void {
  const [first] = config.rollout.approval
  if (finished === null) {
    if (first === undefined) return
    throw new EdgewiseError(
      'guarded',
      `wave ${first} needs approval by "rollout.approval" in edgewise.yaml, and --no-waves ` +
        'would send it without; nothing was applied',
      'Apply without --no-waves, or change "rollout.approval".',
    )
  }
  const id = escapeInvisible(finished.id)
  const waveIndex = findUnapproved(finished)
  if (waveIndex === null && finished.paused === undefined) return
  const [reason, verb] =
    waveIndex === null
      ? ['is paused', 'resume']
      : [`needs approval of wave ${waveIndex + 1}`, 'approve']
  throw new EdgewiseError(
    'guarded',
    `rollout ${id} ${reason}, and --no-waves would send the rest without; nothing was applied`,
    `Apply without --no-waves, and then "edgewise rollout ${verb} ${id}".`,
  )
}

function createOpenRolloutError(rollouts: Rollout[]): EdgewiseError {
  const descriptions = rollouts.map((rollout) => {
    const by = rollout.author === null ? '' : ` by ${escapeInvisible(rollout.author)}`
    const waveNumber = (findCurrentWave(rollout) ?? 0) + 1
    return (
      `rollout ${escapeInvisible(rollout.id)}${by} is open ` +
      `at wave ${waveNumber} of ${rollout.waves.length}`
    )
  })
  return new EdgewiseError(
    'rollout-open',
    `${descriptions.join(', ')}, and the plan touches its domains; nothing was applied`,
    [...rollouts.map(adviseFirst), 'Or select other domains with --target.'].join('\n'),
  )
}

/** Advises what to do about an open rollout before something else is applied. */
function adviseFirst(rollout: Rollout): string {
  const id = escapeInvisible(rollout.id)
  const stop = findStop(rollout, findCurrentWave(rollout) ?? 0)
  const finish =
    stop === null
      ? 'Finish it with "edgewise apply" of its domains and no other changes'
      : `Continue it with "edgewise rollout ${stop === 'paused' ? 'resume' : 'approve'} ${id}"`
  return `${finish}, or end it with "edgewise rollout abort ${id}".`
}

/**
 * Puts the values that are rolled back on hold, so that no later apply sends them again by itself,
 * and lifts the holds of those that are restored. A rollout whose rollback is finished has put its
 * values on hold already.
 *
 * @param recorded state before the rollback
 * @param names ids of the rollback and of the rollout that it finishes; null: none
 */
export async function holdRolledBack(
  store: RolloutStore,
  recorded: RecordedState,
  { changes, references }: Plan,
  names: { id: string; rollout: string | null },
  outside: Outside,
): Promise<void> {
  const { id, rollout } = names
  const [onHold, restored]: [ItemHashes, ItemHashes] = [{}, {}]
  for (const { domain, item, after } of changes) {
    const templates = references?.get(domain)?.get(item)
    const goal = { ...createItemState(after), templates }
    ;(onHold[domain] ??= {})[item] = hashValue(recorded.get(domain)?.get(item))
    ;(restored[domain] ??= {})[item] = hashValue(goal)
  }
  const rollouts = await store.listRollouts()
  const lifted = dropHolds(
    rollouts.filter(({ state }) => state !== 'rolling-back'),
    (domain, item, value) => restored[domain]?.[item] === value,
  )
  for (const each of lifted)
    await store.saveRollout(each, `Rollout ${each.id}: a rollback restores its values`)
  const isFinishing = rollouts.some((each) => each.id === rollout && each.state === 'rolling-back')
  if (isFinishing || changes.length === 0) return
  const startedAt = new Date(outside.clock.now()).toISOString()
  const author = findAuthor(outside)
  await store.saveRollout(
    {
      id,
      startedAt,
      commit: null,
      author,
      state: 'rolled-back',
      reason: `rolled back by ${author}`,
      endedAt: startedAt,
      items: [],
      desiredHashes: {},
      values: {},
      onHold,
      waves: [],
      released: [],
      applies: [],
    },
    `Rollback ${id}: the values that it rolls back are on hold`,
  )
}
