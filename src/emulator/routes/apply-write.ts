import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import type { Store } from '../store/store.ts'
import type { Faults } from './answer-with-faults.ts'
import { createDomainRefusal } from './parse-domains.ts'
import { Refusal } from './refusal.ts'

/** A valid write that has not been applied yet. */
export interface Judged {
  /** Name of each written item in the write. */
  wireNames: ReadonlyMap<ItemKey, string>
  /** Resulting items of each domain. */
  domains: Map<Domain, Map<ItemKey, Value>>
}

/**
 * Applies a write that `judge` finds valid to all its domains, or to none, and returns what was
 * judged and the ids of the domains. Throws a Refusal: the call rate, then that of `judge`.
 */
export function applyWrite<T extends Judged>(
  judge: () => T,
  store: Store,
  now: number,
  faults: Faults,
): { judged: T; domains: { id: string; domain: Domain }[] } {
  const { limit, remaining, resetSeconds } = store.getCallCount(now)
  if (remaining === 0)
    throw new Refusal(
      'calls-exceeded',
      `expected at most ${limit} calls a minute. Wait ${resetSeconds} seconds and send it again`,
    )
  faults.refuseByRate(limit, now)
  const judged = attempt(judge)
  const refusal = judged instanceof Refusal ? judged : findWantedRefusal(judged, faults)
  if (refusal === null)
    return { judged: judged as T, domains: store.configure((judged as T).domains, now) }
  const good = judged instanceof Refusal ? new Map() : selectGoodDomains(judged, faults)
  if (good.size > 0) store.configure(good, now)
  else store.countWrite(now)
  throw refusal
}

function attempt<T>(judge: () => T): T | Refusal {
  try {
    return judge()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Finds the refusal of a valid write by a `refuse` or `partial` fault. */
function findWantedRefusal({ wireNames, domains }: Judged, faults: Faults): Refusal | null {
  const fault = faults.find('partial') ?? faults.find('refuse')
  if (fault === undefined) return null
  if (fault.named === false) return new Refusal('config-invalid', 'the request is invalid')
  if (fault.kind === 'refuse' && fault.item !== undefined) {
    const name = wireNames.get(fault.item) ?? fault.item
    return new Refusal(
      'item-invalid',
      `item(${name}) is invalid: refused because of a configured fault`,
    )
  }
  return createDomainRefusal(fault.domain ?? [...domains.keys()].at(-1) ?? '')
}

/**
 * Selects, for a `partial` fault, all domains except the one that the fault names, or else the
 * last.
 */
function selectGoodDomains({ domains }: Judged, faults: Faults): Judged['domains'] {
  const fault = faults.find('partial')
  if (fault === undefined) return new Map()
  const bad = fault.domain ?? [...domains.keys()].at(-1)
  return new Map([...domains].filter(([domain]) => domain !== bad))
}
