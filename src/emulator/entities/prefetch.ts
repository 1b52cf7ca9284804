import { draw, drawBetween, hashKey } from './chance.ts'

/** One URL of a submission. */
export interface Prefetch {
  id: number
  task: number
  url: string
  /** In milliseconds. */
  createdAt: number
}

export type PrefetchStatus = 'waiting' | 'processing' | 'completed' | 'failed'

/** One month: how long a record is kept, in milliseconds. */
export const prefetchRetentionMs = 31 * 24 * 3_600_000
/** Share of URLs that can't be fetched, whatever their origin does. */
const failing = 0.1

/**
 * Where a prefetch stands at `now`, and when it got there if it is completed. Its pace follows from
 * the seed.
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
  if (draw(key, 2) < failing || originFailsAt(endedAt))
    return { status: 'failed', completedAt: null }
  return { status: 'completed', completedAt: endedAt }
}
