import type { Comparable } from './parts.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import { listSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { RecordedState, StateReader, Recorder } from '../../state/store/store.ts'
import { loadSalt } from './open-state.ts'
import type { LockSelection } from './lock-selection.ts'
import type { Dialogue, Ports } from './ports.ts'
import { useMoves } from '../history/renamed-domains.ts'
import { withLock, type Locked, type LockRequest } from './with-lock.ts'

/** Purpose for which the state is locked and loaded. */
interface Purpose {
  /** Shown to other processes. */
  reason: string
  selection: LockSelection
  /** Whether the state of renamed domains has their new names; default: no. */
  renames?: boolean
  /** Whether the work may add the first secrets of the workspace; default: no. */
  addsSecrets?: boolean | undefined
}

/**
 * Does some work under the lock, with the state and the salt of the fingerprints of secrets.
 *
 * @throws EdgewiseError as `withLock` and `loadLocked`, `record-damaged`
 */
export function withState<T>(
  workspace: Comparable,
  { reason, selection, renames = false, addsSecrets }: Purpose,
  request: LockRequest,
  ports: Ports,
  work: (locked: Locked, recorded: RecordedState) => Promise<T>,
): Promise<T> {
  const { outside, dialogue } = ports
  return withLock(workspace, reason, selection, request, ports, async (locked) => {
    const { store } = locked
    if (renames) useMoves(workspace, store)
    const recorded = await inSpan('load state', () => loadLocked(store, dialogue))
    await loadSalt(workspace, store, outside, addsSecrets)
    return work(locked, recorded)
  })
}

/**
 * Loads the state under the lock. Shares the outcomes that an earlier command could record only in
 * this clone, and notes those that can't be kept.
 *
 * @throws EdgewiseError when they can't be shared
 */
export async function loadLocked(
  store: StateReader & Recorder,
  { note }: Pick<Dialogue, 'note'>,
): Promise<RecordedState> {
  const recorded = await store.load()
  const lost = await shareEarlier(store)
  if (lost.length > 0)
    note(
      `Outcomes of ${listSome(lost.map(escapeInvisible))} were recorded only in this clone, and ` +
        'are dropped: another process has written to the branch since. For that process, items ' +
        'without a shared outcome were in-doubt, and the next apply writes them again.',
    )
  return recorded
}

async function shareEarlier(store: Recorder): Promise<string[]> {
  try {
    return await store.shareEarlier()
  } catch (error) {
    throwDefect(error)
    throw new EdgewiseError(
      error.code,
      `outcomes that an earlier command recorded in this clone can't be shared: ${error.message}`,
      error.hint,
    )
  }
}
