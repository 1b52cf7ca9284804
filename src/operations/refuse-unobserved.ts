import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Observed } from '../model/drift.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { listSome } from '../model/words.ts'

type Managed = ReadonlyMap<Domain, ReadonlyMap<ItemKey, unknown>>

/**
 * Refuses an observation without any managed item: it compares nothing, so no drift would be wrong.
 *
 * @param managed desired and recorded items; without any, every observation is accepted
 * @param scrub removes secrets from names of domains
 * @throws EdgewiseError `not-observed`
 */
export function refuseUnobserved(
  observed: Observed,
  managed: Managed[],
  scrub: (name: string) => string,
): void {
  const isManaged = managed.some((snapshot) => [...snapshot.values()].some(({ size }) => size > 0))
  if (!isManaged || [...observed.values()].some(({ size }) => size > 0)) return
  const domains = [...observed.keys()].map(scrub)
  throw new EdgewiseError(
    'not-observed',
    'no item that is managed here was observed: ' +
      (domains.length === 0 ? 'it has no domain' : `it has ${listSome(domains)}`),
    'Pass the configuration of domains that the manifests or state have, with their items.',
  )
}
