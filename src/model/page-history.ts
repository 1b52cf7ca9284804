import type { Applied } from './applied.ts'

/** An apply in the page of a history. Numbers of parts and domains are positions in the page. */
export interface PageApply {
  id: string
  /** Its rollout, and the number of its wave; null for an apply without other waves. */
  rollout: { id: string; wave: number; rollback: string | null } | null
  outcome: Applied['outcome']
  /** ISO 8601, as recorded. */
  startedAt: string
  /** How long it took, or why that is not known. */
  took: string
  author: string | null
  /** `commit 1a2b3c4d5e6f`, or what was not committed. */
  tree: string | null
  /** Writes, and their parts, by outcome, such as `4 confirmed, 1 refused`. */
  writes: string
  parts: string
  /** Command that rolls it back; null if nothing does. */
  rollback: string | null
  /** Why it can't be rolled back, or what of it is not in the page; empty for nothing. */
  note: string
  /** What it changed; null if that is not in the page. */
  changes: PageApplyChange[] | null
}

/** A change that an apply made in the same way in some domains. */
export interface PageApplyChange {
  part: number
  /** Outcome as state has it, such as `confirmed`. */
  state: string
  domains: number[]
}
