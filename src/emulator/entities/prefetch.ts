import { draw, drawBetween, hashKey } from './chance.ts'

export const refreshTypes = ['url', 'dir'] as const
export type RefreshType = (typeof refreshTypes)[number]

/** One URL of a submission. */
export interface Prefetch {
  id: number
  task: number
  url: string
  /** Milliseconds since 1970. */
  createdAt: number
  /** Kind of a refresh; absent for a prefetch. */
  type?: RefreshType
}

export type PrefetchStatus = 'waiting' | 'processing' | 'completed' | 'failed'

/** Retention of a record, ms: one month. */
export const prefetchRetentionMs = 31 * 24 * 3_600_000
/** Share of URLs whose prefetch fails regardless of their origin. */
const failingShare = 0.1

/**
 * Computes the progress of a prefetch at `now`, and its completion time if it is completed. Its
 * pace depends on the seed.
 */
export function computeProgress(
  { id, url, createdAt }: Prefetch,
  seed: string,
  now: number,
  originFailsAt: (time: number) => boolean,
): { status: PrefetchStatus; completedAt: number | null } {
  const key = hashKey(seed, 'prefetch', String(id), url)
  const begunAt = createdAt + drawBetween(key, 0, 2_000, 15_000)
  const endedAt = begunAt + drawBetween(key, 1, 5_000, 60_000)
  if (now < begunAt) return { status: 'waiting', completedAt: null }
  if (now < endedAt) return { status: 'processing', completedAt: null }
  if (draw(key, 2) < failingShare || originFailsAt(endedAt))
    return { status: 'failed', completedAt: null }
  return { status: 'completed', completedAt: endedAt }
}
