export const prefetchStatuses = ['waiting', 'processing', 'completed', 'failed'] as const
export type PrefetchStatus = (typeof prefetchStatuses)[number]

/** One URL of a submission (specification, "Prefetch task record"). Times as the service writes them, in its own zone. */
export interface PrefetchRecord {
  id: string
  url: string
  status: PrefetchStatus
  createdAt: string
  completedAt: string | null
}

/** Which records: those of a submission, or those of some days (`YYYY-MM-DD`, both included) and perhaps of one URL. */
export type PrefetchQuery = { task: string } | { from: string; to: string; url?: string }
