import type { Https } from '../generated/items.ts'
import type { Value } from '../../model/item.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { fillHidden, type Observation } from '../observation.ts'
import { warn } from '../problems.ts'

/**
 * HTTPS; certificate 0 unbinds (specification, "https"). Omitted `http2`, `ocsp` and
 * `ssl_protocol` stay unchanged.
 */
export const https: ItemRow = {
  group: 'combined',
  check,
  unset: () => ({ cert_id: 0, force_https: 0 }),
  explainDestructive,
  observe,
}

/** A query shows neither `ocsp` nor `ssl_protocol`, and `http2` that is off as an empty string. */
function observe(known: Value | undefined, observed: Json): Observation {
  if (!isObject(observed)) return { payload: observed }
  const shown = observed['http2'] === '' ? { ...observed, http2: 'off' } : observed
  return fillHidden(known, shown, ['ocsp', 'ssl_protocol'])
}

function explainDestructive(after: Value | null): string | null {
  const unbinds = after === null || (isObject(after) && after['cert_id'] === 0)
  return unbinds ? 'certificate 0 removes HTTPS' : null
}

function check(value: Json): Problem[] {
  const { cert_id, http2, force_https = 0 } = castPlain<Https>(value)
  if (cert_id !== 0) return []
  const idle = [...(http2 === 'on' ? ['http2'] : []), ...(force_https !== 0 ? ['force_https'] : [])]
  return idle.map((field) =>
    warn(`/${field}`, `without a certificate (cert_id 0) "${field}" has no effect`),
  )
}
