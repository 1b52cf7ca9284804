import { loadEarlierCalls } from '../apply/earlier-calls.ts'
import { markLate } from '../apply/settling.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { listSome } from '../model/words.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Dialogue } from './ports.ts'
import type { Locked } from './with-lock.ts'

/**
 * Marks the imported items that a call of an apply that died may still change, and notes them.
 *
 * @param imported new state of domains
 * @param recorded their state before
 */
export async function markLateItems(
  imported: RecordedState,
  recorded: RecordedState,
  { config }: LoadedWorkspace,
  { store, lockedAt }: Pick<Locked, 'store' | 'lockedAt'>,
  { note }: Pick<Dialogue, 'note'>,
): Promise<RecordedState> {
  const timeoutMs = config.service.timeoutSeconds * 1000
  const settleMs = config.service.settleSeconds * 1000
  const { itemKeys, url } = config.service
  const affected = [...imported].map(([domain, items]) => ({
    domains: [domain],
    items: [...items.keys()],
  }))
  const earlier = await loadEarlierCalls(affected, recorded, lockedAt.atMs, store, itemKeys)
  const endsWithProcess = url === 'emulator'
  const times = { lockedAt, timeoutMs, settleMs, endsWithProcess }
  const context = { ...earlier, apply: '', ...times, itemKeys }
  const changed: Domain[] = []
  const marked = new Map(
    Array.from(imported, ([domain, items]) => {
      const before = recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
      const after = markLate(domain, items, before, lockedAt.atMs, context)
      if ([...after].some(([item, state]) => state !== items.get(item))) changed.push(domain)
      return [domain, after] as const
    }),
  )
  if (changed.length > 0)
    note(
      `A call of an apply that died may still change imported items of ${listSome(changed)}: ` +
        'another value is sent only once that is impossible. To be certain of the same value, ' +
        'import it again after that time.',
    )
  return marked
}
