import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { narrowSnapshot } from '../plan/selection.ts'
import { findUnapproved } from '../rollout/approvals.ts'
import { findConflicts, findItemsOnHold, type HashItem } from '../rollout/conflicts.ts'
import { dropHolds, isEmpty } from '../rollout/holds.ts'
import { findUnfinished } from '../rollout/on-hold.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { Store } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** Rollout options of a plan. */
export interface WaveRequest {
  /** Roll out in waves; otherwise send all writes, without health checks. */
  waves: boolean
  /** Allow an apply without waves to complete an open rollout of the same desired state. */
  finishes?: boolean
  supersede?: boolean
  retryHeld?: boolean
  /** The plan has only a part of the changes of its selection, so it resumes no rollout. */
  isPart?: boolean
}

/** Returns the rollouts that affect a plan; a superseded one has no waves to resume. */
export function excludeSuperseded(
  rollouts: Rollout[],
  { supersede = false }: { supersede?: boolean | undefined },
): Rollout[] {
  return supersede
    ? rollouts.filter(({ state }) => state !== 'open' && state !== 'taking-back')
    : rollouts
}

/**
 * Decides which open rollout a plan resumes, which rollouts it ends, and which ones then have fewer
 * values on hold.
 *
 * @throws EdgewiseError `rollout-open` when the plan touches domains of an open rollout and may not
 * supersede it, `guarded` when it would send a wave that needs approval without it
 */
export async function decideRollouts(
  workspace: LoadedWorkspace,
  store: Store,
  plan: Plan,
  { waves, finishes = false, supersede = false, retryHeld = false, isPart }: WaveRequest,
): Promise<{ continued: Rollout | null; ended: string[]; kept: Rollout[] }> {
  const stored = await store.listRollouts()
  const unfinished = supersede ? findUnfinished(stored) : []
  const rollouts = stored.filter((rollout) => !unfinished.includes(rollout))
  const { hashDomain, hashItem } = hashDesired(workspace)
  const domains = new Set(plan.changes.map(({ domain }) => domain))
  const selection = { ...plan.basis, isPart }
  const { continued, conflicting } = findConflicts(domains, selection, rollouts, hashDomain)
  const own = continued !== null && (waves ? !supersede : finishes || domains.size === 0)
  const obstacles = [...conflicting, ...(continued === null || own ? [] : [continued])]
  if (obstacles.length > 0 && !supersede) throw createOpenRolloutError(obstacles)
  const kept = retryHeld ? liftHolds(rollouts, plan.basis, hashItem) : []
  const idle = kept.filter(({ state, onHold }) => state !== 'open' && isEmpty(onHold))
  const finished = own && !waves && domains.size > 0 ? [continued] : []
  if (!waves && finishes && plan.writes.length > 0) refuseBypass(workspace, finished[0] ?? null)
  return {
    continued: own && waves ? continued : null,
    ended: [...obstacles, ...finished, ...idle, ...unfinished].map(({ id }) => id),
    kept: kept.filter((rollout) => !idle.includes(rollout)),
  }
}

/**
 * Refuses to apply manifests while the rollback of a rollout is unfinished. Manifests and state can
 * be equal then although part of the bad change is live.
 *
 * @throws EdgewiseError `rollback-unfinished`
 */
export async function refuseUnfinishedRollback(
  store: Store,
  { supersede = false }: { supersede?: boolean | undefined },
): Promise<void> {
  const [rollout] = supersede ? [] : findUnfinished(await store.listRollouts())
  if (rollout === undefined) return
  const id = escapeInvisible(rollout.id)
  throw new EdgewiseError(
    'rollback-unfinished',
    `the rollback of rollout ${id} is unfinished (${escapeInvisible(rollout.reason ?? '')}): ` +
      'some of its changes are still live; nothing was sent',
    `Finish it with "edgewise rollback ${id}". --supersede applies the manifests over it instead.`,
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
function refuseBypass({ config }: LoadedWorkspace, finished: Rollout | null): void {
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
  const reason = waveIndex === null ? 'is paused' : `needs approval of wave ${waveIndex + 1}`
  throw new EdgewiseError(
    'guarded',
    `rollout ${id} ${reason}, and --no-waves would send the rest without; nothing was applied`,
    'Apply without --no-waves: it stops before a wave that needs approval, and ' +
      `"edgewise rollout approve ${id}" approves that.`,
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
    'Resume it with "edgewise apply" of all its domains and no other changes. ' +
      '"edgewise rollout abort" or --supersede ends it; --target selects other domains.',
  )
}
