/** Statuses of the prefetch of one URL, in order. */
export const prefetchStatuses = ['waiting', 'processing', 'completed', 'failed'] as const
export type PrefetchStatus = (typeof prefetchStatuses)[number]

/** One URL of a submission (specification, "Prefetch task record"). Times in ms since 1970. */
export interface PrefetchRecord {
  id: string
  url: string
  status: PrefetchStatus
  createdAt: number
  completedAt: number | null
}

/**
 * Selects the records of a task, or those of some days (`YYYY-MM-DD`, both included), optionally of
 * one URL.
 */
export type PrefetchQuery = { task: string } | { from: string; to: string; url?: string }

/** Counts the records in each status. */
export function countPrefetches(records: PrefetchRecord[]): Record<PrefetchStatus, number> {
  const counts = { waiting: 0, processing: 0, completed: 0, failed: 0 }
  for (const { status } of records) counts[status]++
  return counts
}
