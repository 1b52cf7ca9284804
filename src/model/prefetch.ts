/** What may come of the prefetch of one URL, in the order in which it goes on. */
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
 * Which records: those of a submission, or those of some days (`YYYY-MM-DD`, both included) and
 * perhaps of one URL.
 */
export type PrefetchQuery = { task: string } | { from: string; to: string; url?: string }

/** How many records there are in each status. */
export function countPrefetches(records: PrefetchRecord[]): Record<PrefetchStatus, number> {
  const counts = { waiting: 0, processing: 0, completed: 0, failed: 0 }
  for (const { status } of records) counts[status]++
  return counts
}
