import { listClearedItems } from '../../core/catalog/wire-names.ts'
import type { Write } from '../../core/model/change.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { HangingRemoteError } from '../../state/git/remote-calls.ts'
import type { ItemKey } from '../../core/model/item.ts'
import type { Run } from './run.ts'

const maxAttempts = 30
const retryMs = 10_000

/**
 * Leaves a doubt mark if the outcomes of an apply can't be recorded and its lock is lost: its calls
 * may have taken effect after those of the next holder, who has recorded them as confirmed.
 */
export async function markDoubtful(
  writes: Write[],
  run: Run,
  interrupt: AbortSignal,
): Promise<void> {
  const { lease, store, apply, called, result } = run
  if (called.size === 0) return
  await lease.look()
  const clearance = lease.check(0)
  // Nobody else has written: the intents without an outcome are in-doubt.
  if (clearance === 'clear') return
  const isLost = clearance !== 'look'
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.markDoubtful(apply, [...called], listCleared(writes, run))
    } catch (error) {
      throwDefect(error)
      if (!isLost) return
      const isTransient =
        error.code === 'record-unreachable' && !(error instanceof HangingRemoteError)
      if (!isTransient || interrupt.aborted || attempt === maxAttempts) {
        const count = pluralize(called.size, 'write')
        result.unrecorded +=
          `; ${count} could not be marked as in-doubt (${error.message}): ` +
          'state may be wrong, compare it with the service'
        return
      }
    }
    await run.clock.sleep(retryMs, interrupt)
  }
}

/** Lists the items that some writes clear, also where they were not recorded before. */
function listCleared(writes: Write[], { called, itemKeys }: Run): ItemKey[] {
  const items = writes
    .filter(({ id }) => called.has(id))
    .flatMap((write) => Object.keys(write.items))
  return [...new Set(items.flatMap((item) => listClearedItems(item, itemKeys)))]
}
