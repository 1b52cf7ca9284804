import { createHash } from 'node:crypto'
import type { Domain } from '../../model/item.ts'

/** Computes an id that follows from the name alone, so that a query need not assign one. */
export function computeDomainId(domain: Domain): string {
  const bits = createHash('sha256').update(domain).digest().readUIntBE(0, 6)
  return String(bits + 1)
}
