import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import type { FoundDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Refuses an observation without any of the compared items: it compares nothing, so no drift would
 * be wrong. Without items to compare, every observation is accepted.
 *
 * @throws EdgewiseError `not-observed`
 */
export function refuseUnobserved(
  { drift, observed }: FoundDrift,
  { scrub }: Pick<LoadedWorkspace, 'scrub'>,
): void {
  const { items } = drift
  const isObserved = items.some(({ domain, item }) => observed.get(domain)?.has(item) === true)
  if (isObserved || items.length === 0) return
  const domains = [...observed.keys()].map(scrub)
  throw new EdgewiseError(
    'not-observed',
    'none of the compared items was observed: ' +
      (domains.length === 0 ? 'the observation has no domain' : `it has ${listSome(domains)}`),
    'Pass the configuration of domains that the manifests or state have, with their items.',
  )
}
