import type { ItemRow } from './item-spec.ts'

/**
 * Host header of origin requests; unset means the accelerated domain itself (specification,
 * "origin_host").
 */
export const originHost: ItemRow = {
  group: 'combined',
  unset: (_state, domain) => ({ host: domain }),
}
