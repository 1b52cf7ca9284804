import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { listSome } from '../model/words.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { withLock } from './with-lock.ts'

/** What is to leave state. */
export interface ForgetRequest {
  domains: Domain[]
  /** Only these items; all when empty. */
  items?: ItemKey[]
  /** Seconds to wait while another process holds the lock. */
  lockTimeout?: number
}

/** What left state, counted and in words. */
export interface Forgotten {
  domains: number
  items: number
  what: string
}

/**
 * Locks, asks, and takes domains, or some of their items, out of state. The service is not told.
 *
 * @throws EdgewiseError `usage` when nothing is recorded of them, `declined`
 */
export async function forget(
  workspace: LoadedWorkspace,
  request: ForgetRequest,
  ports: Ports,
): Promise<Forgotten> {
  const domains = [...new Set(request.domains.map((name) => name.toLowerCase()))]
  return withLock(workspace, 'state forget', request.lockTimeout ?? 0, ports, async ({ store }) => {
    const { left, items, what } = withoutItems(await store.load(), domains, request.items ?? [])
    if (!(await ports.dialogue.confirm({ kind: 'forget', what, items })))
      throw new EdgewiseError('declined', 'nothing was forgotten')
    await store.save(left, `Forget ${what}`)
    return { domains: left.size, items, what }
  })
}

function withoutItems(
  recorded: RecordedState,
  domains: Domain[],
  items: ItemKey[],
): { left: RecordedState; items: number; what: string } {
  const left: RecordedState = new Map()
  let count = 0
  for (const domain of domains) {
    const known = recorded.get(domain)
    if (known === undefined)
      throw new EdgewiseError(
        'usage',
        `nothing is recorded of "${domain}"`,
        '"edgewise state list" lists what is.',
      )
    const missing = items.find((item) => !known.has(item))
    if (missing !== undefined) {
      throw new EdgewiseError(
        'usage',
        `no "${missing}" is recorded of ${domain}`,
        `"edgewise state show ${domain}" lists what is.`,
      )
    }
    const rest = new Map(
      items.length === 0 ? [] : [...known].filter(([item]) => !items.includes(item)),
    )
    count += known.size - rest.size
    left.set(domain, rest)
  }
  return {
    left,
    items: count,
    what: `${items.length === 0 ? 'all' : items.join(', ')} of ${listSome(domains)}`,
  }
}
