import type { ItemRow } from '../item-spec.ts'
import { isWildcard } from '../value/formats.ts'

/**
 * Host header of origin requests; unset means the accelerated domain itself (specification,
 * "origin_host").
 */
export const originHost: ItemRow = {
  group: 'combined',
  unset: (_state, domain) => (isWildcard(domain) ? null : { host: domain }),
  explainNoUnset: (domain) =>
    isWildcard(domain) ? 'a wildcard domain has no name of its own that could be the host' : null,
}
