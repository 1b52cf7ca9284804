import type { OutcomeCounts } from './outcome.ts'

/** How an apply ended; `unfinished` while it runs, or when its process was killed. */
export const applyOutcomes = ['unfinished', 'complete', 'incomplete', 'interrupted'] as const

/** One apply, as the journal has it. */
export interface Applied {
  id: string
  /** ISO 8601. */
  startedAt: string
  /** ISO 8601; null while it runs, or when its process was killed. */
  endedAt: string | null
  /** The commit of the workspace; null where there was none. */
  commit: string | null
  /** Who started it; null where that is not known. */
  author: string | null
  writes: OutcomeCounts
  outcome: (typeof applyOutcomes)[number]
}
