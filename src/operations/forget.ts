import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { listSome } from '../model/words.ts'
import type { RecordedState } from '../state/store.ts'
import { loadLocked } from './load-locked.ts'
import { lockDomains } from './lock-selection.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { selectRecorded } from './select-recorded.ts'
import { withLock, type LockRequest } from './with-lock.ts'

/** Domains and items to remove from state. */
export interface ForgetRequest extends LockRequest {
  domains: Domain[]
  /** Only these items; all when empty. */
  items?: ItemKey[]
}

/** Removed domains and items: their numbers, and a description. */
export interface Forgotten {
  domains: number
  items: number
  what: string
}

/**
 * Locks, asks, and removes domains, or some of their items, from state. The service is unchanged.
 *
 * @throws EdgewiseError `usage` when a domain or item is not recorded, `declined`
 */
export async function forget(
  workspace: LoadedWorkspace,
  request: ForgetRequest,
  ports: Ports,
): Promise<Forgotten> {
  const chosen = lockDomains(request.domains)
  return withLock(workspace, 'state forget', chosen, request, ports, async ({ store }) => {
    const recorded = await loadLocked(store, ports.dialogue)
    const { left, items, what } = dropItems(
      selectRecorded(recorded, request.domains),
      request.items ?? [],
    )
    if (!(await ports.dialogue.confirm({ kind: 'forget', what, items })))
      throw new CancelledError('Forget cancelled: nothing was removed from state')
    ports.outside.onPhase?.({ name: 'saving-state', total: left.size })
    await store.save(left, `Forget ${what}`)
    return { domains: left.size, items, what }
  })
}

function dropItems(
  selected: RecordedState,
  items: ItemKey[],
): { left: RecordedState; items: number; what: string } {
  const left: RecordedState = new Map()
  let count = 0
  for (const [domain, known] of selected) {
    const missing = items.find((item) => !known.has(item))
    if (missing !== undefined) {
      throw new EdgewiseError(
        'usage',
        `the item "${missing}" of ${domain} is not recorded`,
        `"edgewise state show ${domain}" lists its recorded items.`,
      )
    }
    const remaining = new Map(
      items.length === 0 ? [] : [...known].filter(([item]) => !items.includes(item)),
    )
    count += known.size - remaining.size
    left.set(domain, remaining)
  }
  return {
    left,
    items: count,
    what: `${items.length === 0 ? 'all' : items.join(', ')} of ${listSome([...selected.keys()])}`,
  }
}
