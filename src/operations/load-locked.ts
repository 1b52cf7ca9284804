import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { RecordedState, Store } from '../state/store.ts'
import type { Dialogue } from './ports.ts'

/**
 * Loads the state under the lock. Shares the outcomes that an earlier command could record only in
 * this clone, and notes those that can't be kept.
 *
 * @throws EdgewiseError when they can't be shared
 */
export async function loadLocked(
  store: Store,
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

async function shareEarlier(store: Store): Promise<string[]> {
  try {
    return await store.shareEarlier()
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    throw new EdgewiseError(
      error.code,
      `outcomes that an earlier command recorded in this clone can't be shared: ${error.message}`,
      error.hint,
    )
  }
}
