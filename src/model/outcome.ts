import type { Domain, ItemKey } from './item.ts'
import type { Json } from './json.ts'

/** What came of one call of the service. */
export type Outcome =
  | {
      kind: 'confirmed'
      config: Record<ItemKey, Json>
      domains: { id: string; domain: Domain }[]
      limits: Limits
    }
  | {
      kind: 'refused'
      status: number
      code: number | null
      message: string
      fatal: boolean
      limits: Limits
    }
  | { kind: 'throttled'; message: string; retryAfterMs: number | null; limits: Limits }
  | { kind: 'in doubt'; message: string }
  | { kind: 'not sent'; message: string }

/** The rate-limit headers of an answer, as far as they were given and readable. */
export interface Limits {
  remaining: number | null
  /** Milliseconds until the count resets. */
  resetMs: number | null
}

/** Writes by what became of them. */
export interface OutcomeCounts {
  confirmed: number
  refused: number
  inDoubt: number
  notSent: number
}
