import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import type { Applied } from '../model/applied.ts'
import { formatTime } from '../model/format-time.ts'
import { pluralize } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { findLastDifferent } from './find-change.ts'
import { loadLocked } from './load-locked.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { createSecretCheck } from './secret-check.ts'
import { selectPrunable, type Prunable } from './select-prunable.ts'
import { withLock, type LockRequest } from './with-lock.ts'

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
  workspace: LoadedWorkspace,
  { keepMs, ...request }: PruneRequest,
  ports: Ports,
): Promise<Pruned> {
  const { outside, dialogue } = ports
  return withLock(workspace, 'state prune', 'workspace', request, ports, async ({ store }) => {
    const recorded = await loadLocked(store, dialogue)
    await loadSalt(workspace, store, outside)
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
    await store.prune(applies, describePrune(pruned))
    return pruned
  })
}

/** Prunes some of the oldest applies after another one. A failure is only noted. */
export async function pruneOld(
  workspace: LoadedWorkspace,
  store: Store,
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
    await store.prune(applies, what)
    dialogue.note(`${what}: they stay in the history, but can't be rolled back any more.`)
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    dialogue.note(
      `Old applies could not be pruned (${escapeInvisible(error.message)}); the next apply tries ` +
        'again.',
    )
  }
}

async function findPrunable(
  { vault, config }: LoadedWorkspace,
  store: Store,
  recorded: RecordedState,
  history: Applied[],
  limits: { beforeMs: number; maxApplies: number },
): Promise<Prunable> {
  const [oldest] = history
  if (oldest === undefined || Date.parse(oldest.startedAt) >= limits.beforeMs)
    return { applies: [], blockedBy: null }
  const last = await findLastDifferent(history, {
    store,
    recorded,
    createSecretCheck: (before) => createSecretCheck(before, recorded, vault),
    itemKeys: config.service.itemKeys,
    represent: (secret, known) => vault.represent(secret, known),
  })
  const needed = [...(last?.applies ?? []), ...store.listUnfinished()].map(({ id }) => id)
  const rollouts = await store.listRollouts()
  return selectPrunable(history, { ...limits, rollouts, needed: new Set(needed) })
}

function describePrune({ applies, before }: Pick<Pruned, 'applies' | 'before'>): string {
  const count = pluralize(applies.length, 'apply', 'applies')
  return `Pruned ${count} that ended before ${formatTime(before)}`
}
