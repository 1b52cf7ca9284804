import type { Comparable, Configured, Secrets } from './runtime/parts.ts'
import { CancelledError, throwDefect } from '../core/model/edgewise-error.ts'
import { type Applied, groupApplies } from '../core/model/applied.ts'
import type { Actor } from '../core/model/people/identity.ts'
import { formatTime, pluralize } from '../core/model/text/words.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import type {
  HistoryReader,
  RecordedState,
  RolloutStore,
  StateReader,
  StateWriter,
} from '../state/store/store.ts'
import { describeAct } from './history/describe-act.ts'
import { findLastDifferent } from './submission/find-change.ts'
import type { Ports } from './runtime/ports.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { isUnfinished, type Rollout } from '../core/model/rollout.ts'

/** Options of a pruning. */
export interface PruneRequest extends LockRequest {
  /** Age of the applies that are kept, ms. */
  keepMs: number
}

/** Pruned applies. */
export interface Pruned {
  /** First to last. */
  applies: Applied[]
  /** Applies that ended before this instant could go, ISO 8601. */
  before: string
  /** Number of applies that can still be rolled back. */
  kept: number
}

/** Limits of the pruning at the end of an apply. */
const automatic = { keepMs: 90 * 86_400_000, maxApplies: 50 }

/**
 * Locks, shows old applies, asks, and prunes them: they stay in the history, but the state before
 * them is removed.
 *
 * @throws EdgewiseError `declined`
 */
export async function prune(
  workspace: Comparable,
  { keepMs, ...request }: PruneRequest,
  ports: Ports,
): Promise<Pruned> {
  const { outside, dialogue } = ports
  const purpose = { reason: 'state prune', selection: 'workspace' } as const
  return withState(workspace, purpose, request, ports, async ({ store, by }, recorded) => {
    const beforeMs = outside.clock.now() - keepMs
    const history = await store.listApplies()
    const limits = { beforeMs, maxApplies: Infinity }
    const { applies, blockedBy } = await findPrunable(workspace, store, recorded, history, limits)
    if (blockedBy !== null)
      dialogue.note(
        `Apply ${escapeInvisible(blockedBy)} and all later ones are kept: it is unfinished, or ` +
          'the last one that can be rolled back.',
      )
    const before = new Date(beforeMs).toISOString()
    const pruned = { applies, before, kept: history.length - applies.length }
    if (applies.length === 0) return pruned
    await dialogue.show({ kind: 'prune', applies })
    if (!(await dialogue.confirm({ kind: 'prune', applies: applies.length })))
      throw new CancelledError('Prune cancelled: nothing was pruned')
    outside.onPhase?.({ name: 'pruning', total: applies.length })
    const what = describePrune(pruned)
    await store.prune(applies, what, describeAct(outside, 'prune', what, { by }))
    return pruned
  })
}

/** Prunes some of the oldest applies after another one. A failure is only noted. */
export async function pruneOld(
  workspace: Configured & Secrets,
  { store, by }: { store: PruneStore; by: Actor },
  recorded: RecordedState,
  { outside, dialogue }: Ports,
): Promise<void> {
  const beforeMs = outside.clock.now() - automatic.keepMs
  try {
    const history = await store.listApplies()
    const limits = { beforeMs, maxApplies: automatic.maxApplies }
    const { applies } = await findPrunable(workspace, store, recorded, history, limits)
    if (applies.length === 0) return
    const what = describePrune({ applies, before: new Date(beforeMs).toISOString() })
    outside.onPhase?.({ name: 'pruning', total: applies.length })
    await store.prune(applies, what, describeAct(outside, 'prune', what, { by }))
    dialogue.note(`${what}: they stay in the history, but can't be rolled back any more.`)
  } catch (error) {
    throwDefect(error)
    dialogue.note(
      `Old applies could not be pruned (${escapeInvisible(error.message)}); the next apply tries ` +
        'again.',
    )
  }
}

type PruneStore = StateReader & HistoryReader & RolloutStore & StateWriter

async function findPrunable(
  workspace: Configured & Secrets,
  store: Omit<PruneStore, keyof StateWriter>,
  recorded: RecordedState,
  history: Applied[],
  limits: { beforeMs: number; maxApplies: number },
): Promise<Prunable> {
  const [oldest] = history
  if (oldest === undefined || Date.parse(oldest.startedAt) >= limits.beforeMs)
    return { applies: [], blockedBy: null }
  const last = await findLastDifferent(history, {
    workspace,
    store,
    recorded,
  })
  const needed = [...(last?.applies ?? []), ...store.listUnfinished()].map(({ id }) => id)
  const rollouts = await store.listRollouts()
  return selectPrunable(history, { ...limits, rollouts, needed: new Set(needed) })
}

function describePrune({ applies, before }: Pick<Pruned, 'applies' | 'before'>): string {
  const count = pluralize(applies.length, 'apply', 'applies')
  return `Pruned ${count} that ended before ${formatTime(before)}`
}

/** Limits of the applies to prune. */
export interface PruneLimits {
  /** Only applies that ended before this instant, ms since 1970. */
  beforeMs: number
  rollouts: Rollout[]
  /** Ids of applies that are unfinished, or that a rollback without a name rolls back. */
  needed: ReadonlySet<string>
  /** Maximum number of applies, except for a single rollout with more. */
  maxApplies: number
}

/** Applies that can be pruned, and an old one that keeps itself and all later ones. */
export interface Prunable {
  applies: Applied[]
  /** Id of the apply or of its rollout; null if there is none. */
  blockedBy: string | null
}

/**
 * Selects the first applies of the history, up to one that is needed: an earlier state is
 * reconstructed from all later applies, so none between kept ones can go. The last apply stays.
 *
 * @param history first to last
 */
export function selectPrunable(history: Applied[], limits: PruneLimits): Prunable {
  const groups = groupApplies(history)
  const open = new Set(
    limits.rollouts.filter(isUnfinished).flatMap(({ id, applies }) => [id, ...applies]),
  )
  const isOld = (applies: Applied[]) =>
    applies.every(({ startedAt, endedAt }) => Date.parse(endedAt ?? startedAt) < limits.beforeMs)
  const isNeeded = (applies: Applied[]) =>
    applies.some(({ id }) => limits.needed.has(id) || open.has(id))
  let [count, size] = [0, 0]
  for (const applies of groups.slice(0, -1)) {
    const isTooMuch = size > 0 && size + applies.length > limits.maxApplies
    if (!isOld(applies) || isNeeded(applies) || isTooMuch) break
    count++
    size += applies.length
  }
  const blocking = groups[count] ?? []
  const isBlocked = count < groups.length - 1 && isOld(blocking) && isNeeded(blocking)
  // The waves of a rollout may have run after an apply that is kept.
  while (count > 0 && !isBefore(groups.slice(0, count).flat(), groups.slice(count).flat())) count--
  return {
    applies: groups.slice(0, count).flat(),
    blockedBy: isBlocked ? (blocking[0]?.id ?? null) : null,
  }
}

function isBefore(applies: Applied[], later: Applied[]): boolean {
  const start = later.reduce(
    (first, { startedAt }) => (startedAt < first ? startedAt : first),
    later[0]?.startedAt ?? '',
  )
  return applies.every(({ startedAt }) => startedAt < start)
}
