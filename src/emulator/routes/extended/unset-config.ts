import type { Json } from '../../../core/model/json.ts'
import { applyWrite, type Judged } from '../apply-write.ts'
import { openBody } from '../authenticate.ts'
import type { Incoming } from '../route.ts'
import { parseDomains, refuseUnknown } from '../parse-domains.ts'
import { Refusal } from '../refusal.ts'
import type { ExtendedContext } from './context.ts'
import { parseItemList } from './read-config.ts'

/**
 * Unsets items of domains, of all of them or of none; an item that is not set may be named. Adds
 * its domains and items to `call`. Throws a Refusal like a write.
 */
export async function unsetConfig(
  { request, call, faults }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { domains: given, config } = await openBody(request, rules)
  const judge = (): Judged => {
    const domains = parseDomains(given)
    call.domains = domains
    const items = parseItemList(config ?? null, rules.names) ?? []
    call.items = items
    if (items.length === 0)
      throw new Refusal('config-invalid', 'expected "config" to name at least one item, got none')
    refuseUnknown(domains, store)
    return {
      wireNames: new Map(items.map((item) => [item, rules.names.getName(item)])),
      domains: new Map(
        domains.map((domain) => [
          domain,
          new Map([...store.getItems(domain)].filter(([item]) => !items.includes(item))),
        ]),
      ),
    }
  }
  applyWrite(judge, store, rules.now(), faults)
  return { code: 0, data: '' }
}
