import type { Domain, ItemKey } from '../../model/item.ts'

/**
 * One call that the emulator answered, as its control surface lists it. Never holds the token: the
 * path has no query.
 */
export interface Call {
  /** Its arrival, in milliseconds. */
  time: number
  method: string
  path: string
  /** HTTP status of the answer. */
  status: number
  /** `code` of the answer's envelope. */
  code: number
  /** The domains and (canonical) items that it named, as far as they could be read. */
  domains: Domain[]
  items: ItemKey[]
}

/** Calls that are kept for the control surface. */
export const maxCallsKept = 10_000
