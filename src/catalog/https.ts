import type { Https } from '../generated/items.ts'
import type { Value } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { warn } from './problems.ts'

/**
 * HTTPS; certificate 0 unbinds (specification, "https"). `http2` and `ocsp` stay as they are when
 * left out.
 */
export const https: ItemRow = {
  group: 'combined',
  check,
  unset: () => ({ cert_id: 0, force_https: 0 }),
  explainDestructive,
}

function explainDestructive(after: Value | null): string | null {
  const unbinds = after === null || (isObject(after) && after['cert_id'] === 0)
  return unbinds ? 'certificate 0 takes HTTPS away' : null
}

function check(value: Json): Problem[] {
  const { cert_id, http2, force_https = 0 } = castAccepted<Https>(value)
  if (cert_id !== 0) return []
  const idle = [...(http2 === 'on' ? ['http2'] : []), ...(force_https !== 0 ? ['force_https'] : [])]
  return idle.map((field) =>
    warn(`/${field}`, `without a certificate (cert_id 0) "${field}" has no effect`),
  )
}
