import type { Domain, ItemKey } from '../../model/item.ts'

/**
 * One call that the emulator answered, as listed by its control surface. Never contains the token:
 * the path has no query.
 */
export interface Call {
  /** Time of arrival, ms. */
  time: number
  method: string
  path: string
  /** HTTP status of the answer. */
  status: number
  /** `code` of the answer's envelope. */
  code: number
  /** Domains and (canonical) items of the call, as far as they could be parsed. */
  domains: Domain[]
  items: ItemKey[]
}

/** Maximum number of calls kept for the control surface. */
export const maxCallsKept = 10_000
