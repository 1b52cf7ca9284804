import type { JournalFile } from './generated/state-types.ts'
import type { Domain, ItemKey } from './item.ts'
import type { Json } from './json.ts'

/** Code of an answer about a domain that the account does not have (specification, "Errors", 2). */
export const unknownDomain = 400_101

/** Tests whether a refused call was not accepted, so that nothing of it was saved. */
export function isNotAccepted({ status, fatal }: { status: number; fatal: boolean }): boolean {
  return fatal || status === 403
}

/** Outcome of one call of the service. */
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
      /** True if the service accepts no call (401, 404, its own 403): nothing was saved. */
      fatal: boolean
      limits: Limits
    }
  | { kind: 'throttled'; message: string; retryAfterMs: number | null; limits: Limits }
  | { kind: 'in-doubt'; message: string; limits?: Limits }
  | ({ kind: 'not sent' } & EndReason)

/** Reason why a write is not sent, or why an apply ends early. */
export interface EndReason {
  message: string
  /** Present if it is an interrupt. */
  interrupted?: true
}

/** Periods for which the service counts calls, ms. */
export const periodMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
export type Period = keyof typeof periodMs

/** Rate-limit headers of an answer; null if absent or unreadable. */
export interface Limits {
  remaining: number | null
  /** Milliseconds until the count resets. */
  resetMs: number | null
  /** Absent for a minute. */
  period?: Period
}

/** Number of writes, or of their parts, by outcome. A part is one item of one domain. */
export type OutcomeCounts = JournalFile['writes']

/** Writes of an apply, and their parts, by outcome. */
export interface ApplyCounts {
  writes: OutcomeCounts
  parts: OutcomeCounts
}

/** Name of an interrupt in messages. */
export const interrupted = 'interrupted'
