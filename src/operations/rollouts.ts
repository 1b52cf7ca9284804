import type { Comparable, Settings, StateOutside } from './runtime/parts.ts'
import { findCommandDecider, judgeAttempt, toActor, type Decider } from './people/command-line.ts'
import { weighDecision } from './people/decide.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Decided, ListedRollout, Overview, Recent } from '../core/model/listed-rollout.ts'
import { findCurrentWave, isUnfinished, type Rollout } from '../core/model/rollout.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import { hashWave, identifyStep } from '../engine/rollout/approvals.ts'
import {
  abort,
  approve,
  isBeingSent,
  listRollout,
  pause,
  resume,
} from '../engine/rollout/decide.ts'
import { listRolloutDomains } from '../state/store/spans.ts'
import type { ChainStore, HistoryReader, RolloutStore } from '../state/store/store.ts'
import type { OpenState } from '../state/store/store-opener.ts'
import { describeAct } from './history/describe-act.ts'
import { findAuthor } from './submission/find-author.ts'
import type { LockSelection } from './runtime/lock-selection.ts'
import { openState } from './runtime/open-state.ts'
import type { Ports } from './runtime/ports.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'

/** Lists the unfinished rollouts, first to last. */
export async function listRollouts(
  workspace: Settings,
  outside: StateOutside,
): Promise<ListedRollout[]> {
  const { rollouts } = await createRolloutLoader(workspace, outside)()
  return rollouts.map(({ listed }) => listed)
}

/**
 * Creates a loader of the recorded rollouts, first to last: unfinished ones, those with an id in a
 * text about what rollouts have left, and the latest that have ended; and of the end of the
 * history. In a database, it loads them again only when they have changed.
 */
export function createRolloutLoader(
  workspace: Settings,
  outside: StateOutside,
): (left?: string) => Promise<Pick<Overview, 'rollouts' | 'ended' | 'recent'>> {
  let last: Loaded | null = null
  let state: Promise<OpenState> | null = null
  return async (left = '') => {
    outside.onPhase?.({ name: 'loading-state' })
    const { store, locks } = await (state ??= openState(workspace, outside))
    // Hashed before they are loaded: what changes meanwhile is only loaded once more.
    const { newest } = await store.chain.loadSince(null)
    const hash = await store.hashRollouts()
    if (hash === null || last?.hash !== hash || last.recent.newest !== newest)
      last = { hash, ...(await loadShown(store)), recent: await loadRecent(store, newest) }
    const { open, over, past, recent } = last
    const held = over.filter(({ id }) => left.includes(id))
    const ended = [...past.filter(({ id }) => !held.some((each) => each.id === id)), ...held]
    const isLocked = async (rollout: Rollout) => {
      const scope = { workspace: workspace.config.id, domains: listRolloutDomains(rollout) }
      return (await locks.listHolders(scope)).length > 0
    }
    const rollouts = open.map(async ({ rollout, step }) => {
      const isRunning = isBeingSent(rollout) && (await isLocked(rollout))
      return { listed: listRollout(rollout, isRunning), rollout, step }
    })
    return { rollouts: await Promise.all(rollouts), ended, recent }
  }
}

/** Entries of the history that are loaded. */
const maxEntries = 100

/** Loads the end of the history. */
async function loadRecent(store: HistoryReader & ChainStore, newest: number): Promise<Recent> {
  const { entries: acts } = await store.chain.loadSince(Math.max(0, newest - maxEntries))
  const ids = acts.flatMap(({ journal, about }) =>
    journal !== undefined && /^[\w-]+$/.test(about) ? about : [],
  )
  return { newest, acts, applies: await store.listApplies(ids) }
}

type Loaded = Awaited<ReturnType<typeof loadShown>> & { hash: string | null; recent: Recent }

/** Loads unfinished rollouts with their steps, those that are over, and the latest of these. */
async function loadShown(store: RolloutStore) {
  const recorded = await store.listRollouts()
  const steps = recorded.map((rollout) => ({ rollout, step: identifyStep(rollout) }))
  return {
    open: steps.filter(({ rollout }) => isUnfinished(rollout)),
    over: recorded.filter((each) => !isUnfinished(each)),
    past: await store.listEnded(),
  }
}

/** Finds a recorded rollout: an unfinished one, or one that puts values on hold; null for none. */
export async function findRollout(
  workspace: Settings,
  id: string,
  outside: StateOutside,
): Promise<Rollout | null> {
  const { store } = await openState(workspace, outside)
  return (await store.listRollouts()).find((rollout) => rollout.id === id) ?? null
}

/** Lists the rollouts that wait for an approval. */
export async function listWaiting(workspace: Settings, outside: StateOutside): Promise<Rollout[]> {
  const { store } = await openState(workspace, outside)
  const waits = (each: Rollout) => listRollout(each, false).state === 'waiting-for-approval'
  return (await store.listRollouts()).filter(waits)
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
  /** Who decides, and by which rules; absent: who `findCommandDecider` finds. */
  decider?: Decider
}

/** Decision about an unfinished rollout. */
export type RolloutVerb = 'approve' | 'pause' | 'resume' | 'abort'

const changes = { approve, pause, resume, abort }

/**
 * Locks, and decides about a rollout. `approve`: the wave that it waits for; the next apply of the
 * same manifests continues it. `pause`: no further wave begins, also in a process that runs it,
 * until `resume`. `abort`: it ends in its current state; what was sent stays, the rest is on hold.
 *
 * @throws EdgewiseError `not-allowed` by the rules of the decider,
 * `usage` when there is no such rollout, or it can't be decided now,
 * `rollback-unfinished` when only its rollback is left, which can only be aborted
 */
export async function decideRollout(
  verb: RolloutVerb,
  workspace: Comparable,
  { rollout: id, step, decider: given, ...request }: RolloutRequest,
  ports: Ports,
): Promise<Decided> {
  const { outside } = ports
  const about = `${verb} ${id}`
  const decider = given ?? (await findCommandDecider(workspace, outside, about, verb === 'approve'))
  const actor = decider === null ? null : toActor(decider.identity, outside)
  const acting = actor === null ? ports : { ...ports, outside: { ...outside, actor } }
  const purpose = { reason: `rollout ${verb}`, selection: lockRollout(id) }
  return withState(workspace, purpose, request, acting, async ({ store, by }) => {
    const rollout = findUndecided(await store.listRollouts(), id, verb)
    if (step !== undefined && step !== identifyStep(rollout)) throw createMovedError(id)
    const at = new Date(outside.clock.now()).toISOString()
    const weigh = ({ identity, rules }: Decider) => weighDecision(identity, verb, rollout, rules)
    // Refused attempts over HTTP are logged.
    const weight =
      given !== undefined
        ? weigh(given)
        : decider === null
          ? undefined
          : await judgeAttempt({ store, outside, by, about }, () => weigh(decider))
    const author = decider?.identity.name ?? findAuthor(outside)
    const decided = changes[verb](rollout, { author, at, by }, weight)
    if (decided.rollout === rollout) return decided
    store.chain.add(
      describeAct(outside, verb === 'approve' ? 'approval' : 'decision', id, {
        at,
        by,
        commit: rollout.commit,
        plan: hashWave(rollout, findCurrentWave(rollout) ?? 0),
        outcome: decided.verb,
      }),
    )
    await store.saveRollout(decided.rollout, `Rollout ${id}: ${decided.verb}`)
    const newest = store.chain.newest
    return newest === null ? decided : { ...decided, history: newest.hash }
  })
}

function createMovedError(id: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `rollout ${escapeInvisible(id)} is no longer as it was shown: it has moved on, or somebody ` +
      'else has decided about it',
    'Nothing was decided. Look at it again.',
  )
}

function findUndecided(rollouts: Rollout[], id: string, verb: RolloutVerb): Rollout {
  const rollout = rollouts.find((each) => each.id === id)
  const name = escapeInvisible(id)
  if (rollout === undefined)
    throw new EdgewiseError(
      'usage',
      `there is no open rollout "${name}"`,
      '"edgewise rollout list" lists the unfinished rollouts.',
    )
  if (rollout.state === 'open') return rollout
  if (rollout.state === 'rolling-back' && verb === 'abort') return rollout
  if (rollout.state === 'rolling-back')
    throw new EdgewiseError(
      'rollback-unfinished',
      `the rollback of rollout ${name} is unfinished`,
      `Finish it with "edgewise rollback ${name}", or end it as it is with ` +
        `"edgewise rollout abort ${name}".`,
    )
  throw new EdgewiseError(
    'usage',
    `rollout ${name} has already ended: ${escapeInvisible(rollout.reason ?? '')}`,
    '"edgewise apply --retry-held" applies its changes that are on hold.',
  )
}
