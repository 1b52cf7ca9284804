import type { ItemKeys } from '../core/catalog/wire-names.ts'
import type { Domain, ItemKey, Wire } from '../core/model/item.ts'
import { judge } from './routes/write-config.ts'
import { Refusal } from './routes/refusal.ts'
import { buildWireNames } from './routes/wire-names.ts'
import { DataFile } from './store/data-file.ts'
import { Store } from './store/store.ts'

/**
 * Writes a whole configuration to a service in memory that has nothing yet, without a socket
 * (specification, "POST /domain/config").
 *
 * @param config payloads by item, with the values of their secrets
 * @returns why it is refused; null if it is accepted
 */
export function tryConfiguration(
  domain: Domain,
  config: Record<ItemKey, Wire>,
  itemKeys: ItemKeys,
): Refusal | null {
  if (Object.keys(config).length === 0) return null
  const options = { domains: null, callsPerMinute: 0, deadOrigins: [] }
  const store = new Store(options, new DataFile(null))
  const names = buildWireNames(itemKeys)
  const named = Object.entries(config).map(([item, payload]) => [names.getName(item), payload])
  const rules = { token: null, names, lenient: false, limitStyle: 'status', now: () => 0 } as const
  const call = { time: 0, method: '', path: '', status: 0, code: 0, domains: [], items: [] }
  try {
    judge(domain, Object.fromEntries(named) as Record<ItemKey, Wire>, call, store, rules)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
