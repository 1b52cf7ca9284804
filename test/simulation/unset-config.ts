import { Faults } from '../../src/emulator/routes/answer-with-faults.ts'
import { Refusal } from '../../src/emulator/routes/refusal.ts'
import type { FaultPlan } from '../../src/emulator/store/fault-plan.ts'
import type { Store } from '../../src/emulator/store/store.ts'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'

/**
 * Handles a `DELETE /domain/config` that is valid: all or nothing, except that a `partial` fault
 * saves it on the other domains. It is a call as a write is, with the faults of writes.
 *
 * @throws Refusal
 */
export function unsetConfig(
  { domains, config }: { domains: string; config: ItemKey[] },
  store: Store,
  plan: FaultPlan,
  now: number,
): void {
  const names = domains.split(',')
  const faults = new Faults(plan.next({ write: true, domains: names, items: config }), plan)
  if (faults.find('unauthorized-from') !== undefined)
    throw new Refusal('token-wrong', 'the token is wrong')
  const { limit, remaining } = store.getCallCount(now)
  if (remaining === 0) throw new Refusal('calls-exceeded', 'too many calls')
  faults.refuseByRate(limit, now)
  const partial = faults.find('partial')
  const fault = partial ?? faults.find('refuse')
  const bad = partial === undefined ? undefined : (partial.domain ?? names.at(-1))
  const saved =
    fault === undefined || partial !== undefined ? names.filter((name) => name !== bad) : []
  if (saved.length === 0) store.countWrite(now)
  else store.configure(new Map(saved.map((name) => [name, omitItems(name, config, store)])), now)
  if (fault !== undefined) throw new Refusal('config-invalid', 'the request is invalid')
}

function omitItems(domain: Domain, items: ItemKey[], store: Store): Map<ItemKey, Value> {
  return new Map([...store.getItems(domain)].filter(([item]) => !items.includes(item)))
}
