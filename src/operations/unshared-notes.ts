import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { Store } from '../state/store.ts'

/** Notes outcomes that only this clone has, for commands that do not share them. */
export async function listUnsharedNotes(store: Store): Promise<string[]> {
  const unshared = await store.listUnshared()
  if (unshared.length === 0) return []
  return [
    `Outcomes of ${listSome(unshared.map(escapeInvisible))} are recorded only in this clone: the ` +
      'next command here that takes the lock, such as "edgewise apply", shares them.',
  ]
}
